"""Executions of confirmed actions: each runs at most once, and a person decides about those with an unknown end."""
