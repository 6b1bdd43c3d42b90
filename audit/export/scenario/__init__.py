"""Recorded turns as a scenario file that `manage.py scenarios` runs again."""
