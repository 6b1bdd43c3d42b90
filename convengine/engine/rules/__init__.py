"""Rules: conditions, actions, and the phases that run them."""
