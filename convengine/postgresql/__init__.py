"""The database backend for PostgreSQL: Django's own, with a look at a pooled connection before it is used."""
