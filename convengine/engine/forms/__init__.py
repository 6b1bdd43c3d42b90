"""Forms: the fields that a schema collects, their values and their status."""
