"""Pending actions: what waits for a yes, which one is meant, and its record."""
