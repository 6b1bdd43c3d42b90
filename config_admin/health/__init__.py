"""Whether a configuration is well: what its rows do to one another, shown by inputs that make it happen (tables 10)."""
