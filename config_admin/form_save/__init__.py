"""Saving, deleting and switching rows: the reason, the effects, and conflicts with others."""
