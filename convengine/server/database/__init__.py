"""The two databases: SQL dialects, statements, the clock, sealed tables, the PostgreSQL backend."""
