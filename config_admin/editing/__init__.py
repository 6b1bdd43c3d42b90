"""What an edit page offers, checks and tests while it is filled in."""
