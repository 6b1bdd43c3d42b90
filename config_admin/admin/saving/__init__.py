"""What happens when rows are saved, deleted or switched: why, what it does, and who else was at it."""
