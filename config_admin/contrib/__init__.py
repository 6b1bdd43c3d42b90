"""Packages that one command, or a dotted path in the settings, uses, and that the product works without."""
