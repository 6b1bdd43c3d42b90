"""Writing the memory of a turn."""
