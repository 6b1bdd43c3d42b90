"""Management commands under their own names, which our projects install; others have `manage.py convengine`."""
