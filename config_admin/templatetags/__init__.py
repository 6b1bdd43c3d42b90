"""What templates ask of the configuration's own code."""
