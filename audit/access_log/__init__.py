"""The log of who read which part of the record."""
