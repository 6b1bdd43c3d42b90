"""The engine: a pure function from a snapshot, a session and ports to a new session, a result and events."""
