"""Test cases in the database: conversations with expectations, run on any configuration before it is live."""
