"""Memory: the summaries and units that later turns and sessions read."""
