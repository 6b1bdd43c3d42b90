"""The server around the engine: everything that needs Django, a database, a clock or the network."""
