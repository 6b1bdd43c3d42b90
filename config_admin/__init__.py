"""The app of analysts: configuration tables, their editors and checks, and releases."""
