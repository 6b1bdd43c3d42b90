"""What a session remembers beyond its turns: units, summaries, and memory for the next session."""
