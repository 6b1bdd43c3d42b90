"""Live streams of running conversations."""
