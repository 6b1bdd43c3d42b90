"""What the seals of the record cover, and the links for additions."""
