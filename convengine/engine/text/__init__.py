"""Texts: comparing, splitting, masking, and reading numbers, dates and formats."""
