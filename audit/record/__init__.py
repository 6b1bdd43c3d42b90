"""The record of a turn: writing, reading, sealing and removing its events."""
