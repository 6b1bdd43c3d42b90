"""Flows that work at once: an intent with its phrases, data, rules and answers, made of a few words."""
