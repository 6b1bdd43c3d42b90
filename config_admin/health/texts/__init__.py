"""Texts that patterns want or do not want, found by a search over the patterns themselves."""
