"""Admin pages of conversations and turns: timeline, turn, row, comparison, replay, and trying a conversation."""
