"""Progress texts: what users read while a turn runs."""
