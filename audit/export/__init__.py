"""A conversation as a file: as it is stored, or as a scenario."""
