"""The rules of the phase before the answer."""
