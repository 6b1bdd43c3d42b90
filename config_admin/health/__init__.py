"""The health check: what rows do to one another, with an input that shows it."""
