"""The kinds of values: what of a message may be one, and what it means for a field."""
