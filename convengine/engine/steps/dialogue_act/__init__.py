"""The dialogue act of a message: patterns, a model, and rules."""
