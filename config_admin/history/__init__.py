"""Pages that show what changed: the history of a row, releases, and two configurations side by side."""
