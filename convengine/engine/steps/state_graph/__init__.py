"""The check of a turn's moves against the state graph."""
