"""Import and export of configuration: files, their effect, and imports as one release."""
