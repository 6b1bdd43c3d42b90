"""How well a configuration understands people: evaluations in the background, and their pages (docs/evaluate.md)."""
