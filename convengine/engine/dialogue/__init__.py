"""The dialogue act: what the user does with a message, by patterns."""
