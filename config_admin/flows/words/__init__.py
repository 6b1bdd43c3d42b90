"""A word in all texts: every use of it, to replace it or to take it out."""
