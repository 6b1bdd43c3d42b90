"""The database backend for PostgreSQL: Django's own, with a check of each pooled connection."""
