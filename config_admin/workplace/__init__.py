"""The admin pages that belong to no single table."""
