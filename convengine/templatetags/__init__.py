"""What templates ask of the admin as a whole."""
