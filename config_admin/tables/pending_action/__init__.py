"""Actions: what runs after a confirmation."""
