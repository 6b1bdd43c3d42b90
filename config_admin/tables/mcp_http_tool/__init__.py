"""HTTP tools: the HTTP call behind a tool."""
