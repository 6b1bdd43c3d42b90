"""The states and moves of the configuration as a graph."""
