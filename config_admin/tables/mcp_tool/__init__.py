"""Tools: the registry that planner and direct calls use."""
