"""The health checks, one module each."""
