"""Texts that match or do not match patterns, found by a search over the patterns."""
