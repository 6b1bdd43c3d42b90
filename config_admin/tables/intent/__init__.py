"""Intents: what users may want."""
