"""The addresses that monitoring asks: is the process alive, can it take turns, and its numbers."""
