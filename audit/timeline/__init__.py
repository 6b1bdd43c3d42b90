"""Admin pages of conversations and turns, and the calls of the API about them: timeline, turn, comparison, replay."""
