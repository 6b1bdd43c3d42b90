"""The states and moves that rows make, as a graph that can be drawn."""
