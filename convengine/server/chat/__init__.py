"""The chat: its script, and the page of this server that shows it."""
