"""Feedback on answers: given through the API or in the admin, counted by row."""
