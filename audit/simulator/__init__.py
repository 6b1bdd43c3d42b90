"""The simulator: conversations on any configuration, played from the start each time and stored nowhere."""
