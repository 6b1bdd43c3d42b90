"""Compare two contents of a row or two configurations, and undo changes."""
