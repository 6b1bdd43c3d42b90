"""The client of MCP servers."""
