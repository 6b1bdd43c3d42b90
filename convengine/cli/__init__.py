"""The `convengine` command: Django's management commands under short names, and what runs without Django."""
