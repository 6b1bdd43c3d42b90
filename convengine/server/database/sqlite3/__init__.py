"""Django's SQLite backend, which makes the folder of a database at its first use."""
