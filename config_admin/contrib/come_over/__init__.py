"""A project of Rasa becomes flows: what comes along, what does not and why (docs/come_over.md)."""
