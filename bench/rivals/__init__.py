"""Applications for comparison: the same effect on the database, without an engine."""
