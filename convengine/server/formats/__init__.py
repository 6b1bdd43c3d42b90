"""Formats of times on pages: with seconds, 24 hours."""
