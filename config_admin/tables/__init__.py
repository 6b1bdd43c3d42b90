"""The configuration tables: one package each, with model (columns), admin (pages) and checks (before saving)."""
