"""The conversation: loading, resetting and storing it around a turn."""
