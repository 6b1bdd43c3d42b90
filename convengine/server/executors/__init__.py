"""The executors of built-in tools: databases, HTTP, files, documents, calculations, notifications, MCP servers."""
