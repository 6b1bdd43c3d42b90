"""The interaction policy: how a turn is routed by what the dialogue waits for."""
