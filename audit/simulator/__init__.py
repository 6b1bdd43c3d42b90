"""Trying a conversation: the simulator plays it from the start and stores nothing; real messages are real turns."""
