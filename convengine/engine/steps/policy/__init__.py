"""Policies: messages that are refused before any model sees them."""
