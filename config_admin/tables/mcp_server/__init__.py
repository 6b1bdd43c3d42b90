"""MCP servers: external servers whose tools are discovered."""
