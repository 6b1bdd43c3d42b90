"""Corrections: a yes, an edit or a retry of what is in the form."""
