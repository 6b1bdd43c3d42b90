"""Tools: direct calls, and the planner that chooses them."""
