"""ConvEngine as an MCP server: its API as tools."""
