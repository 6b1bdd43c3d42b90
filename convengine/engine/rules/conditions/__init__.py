"""Conditions of rules: rows of fields and JSON paths are parsed into one tree, which is tested and said in words."""
