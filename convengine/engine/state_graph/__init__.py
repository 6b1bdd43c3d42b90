"""The state graph: which moves between states are allowed."""
