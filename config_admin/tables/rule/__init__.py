"""Rules: when a condition holds, do one thing."""
