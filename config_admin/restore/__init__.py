"""Restore rows as one release: a row, the change of a release, or everything."""
