"""Pages of past turns, to read: the timeline of a conversation, a turn, a row as it was, and comparisons."""
