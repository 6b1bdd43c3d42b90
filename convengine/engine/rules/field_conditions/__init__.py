"""Conditions without code: rows of field, operator and value, in groups (R116)."""
