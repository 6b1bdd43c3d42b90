"""The record of every turn: what it did and why, and everything that reads it."""
