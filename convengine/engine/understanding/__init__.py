"""What a message says, read once: words, values, clauses, moves, then their assignment to a form."""
