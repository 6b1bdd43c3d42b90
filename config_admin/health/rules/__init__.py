"""Compare rules: search for a turn in which two of them act, then simulate it."""
