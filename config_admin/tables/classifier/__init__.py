"""Phrases: texts and patterns that mean an intent."""
