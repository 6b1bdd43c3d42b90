"""Scenarios: conversations with their expected results, as files, and their runner."""
