"""What messages are read as, measured on labelled messages: no database, no server (docs/evaluate.md)."""
