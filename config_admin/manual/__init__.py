"""The manual: chapters from `docs/`, and a reference that is generated from code."""
