"""Whole conversations with customers who answer back: people, or whoever plays one by the sheet of a customer."""
