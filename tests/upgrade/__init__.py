"""An upgrade begins with the database that a release made."""
