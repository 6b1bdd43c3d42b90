"""The API of configuration: import, export, validation and health."""
