"""What the engine is compared with: the same effect on the database, and no engine."""
