"""Commands of configuration."""
