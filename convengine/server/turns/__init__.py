"""One turn: its lease, its run, and its commit."""
