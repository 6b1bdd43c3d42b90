"""Configuration in and out: files of it, what an import of one would change, and doing that as one release (R76)."""
