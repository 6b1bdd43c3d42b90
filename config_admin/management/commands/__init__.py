"""The one command that every Django project gets."""
