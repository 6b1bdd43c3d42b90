"""Direct tool calls of an intent and state."""
