"""Packages that the product uses by dotted paths in its settings only, and works without."""
