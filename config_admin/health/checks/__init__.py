"""The checks of the health of a configuration, a module each."""
