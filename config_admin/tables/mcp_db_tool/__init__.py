"""Database tools: the SQL behind a tool."""
