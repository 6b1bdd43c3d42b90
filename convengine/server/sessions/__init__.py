"""The tables of conversations and turns, and their retention."""
