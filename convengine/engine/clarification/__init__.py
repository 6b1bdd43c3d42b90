"""Clarification: the questions about which intent is meant, and their answers."""
