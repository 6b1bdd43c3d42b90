"""The manual: chapters for people, and a reference that is made of the vocabulary in code (style habits 15, 24)."""
