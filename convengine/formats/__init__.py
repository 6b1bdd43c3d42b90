"""How pages write times: to the second, on a clock of 24 hours."""
