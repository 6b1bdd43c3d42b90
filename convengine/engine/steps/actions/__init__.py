"""Actions: the record of a pending action, its approval, and its run."""
