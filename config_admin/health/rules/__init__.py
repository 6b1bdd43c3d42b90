"""Rules against rules: moments of a turn in which two of them act, searched for and then played by the engine."""
