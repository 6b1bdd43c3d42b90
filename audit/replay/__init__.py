"""Replay recorded turns, and compare the results."""
