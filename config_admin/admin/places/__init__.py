"""The pages of the workplace that belong to no single table."""
