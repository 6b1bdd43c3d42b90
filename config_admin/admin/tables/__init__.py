"""The pages of control-plane tables, a module a table."""
