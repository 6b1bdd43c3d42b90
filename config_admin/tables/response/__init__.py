"""Answers: what users get in a state."""
