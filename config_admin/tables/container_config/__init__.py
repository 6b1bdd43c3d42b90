"""Data sources: data that a provider puts into the context."""
