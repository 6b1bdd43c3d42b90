"""HTTP tools: the HTTP call behind a tool. The first migration names `model`."""
