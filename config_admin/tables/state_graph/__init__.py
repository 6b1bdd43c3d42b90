"""State graph: the allowed moves between states."""
