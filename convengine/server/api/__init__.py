"""The HTTP API of turns and sessions, and its keys."""
