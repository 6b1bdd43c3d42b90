"""What all tests share. The database is chosen in `tests.database`, before this file is read."""
