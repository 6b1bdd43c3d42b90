"""The values of a turn: session, snapshot, rows, ports, events and settings."""
