"""Progress texts: what users read while a turn runs, from the rows of ce_verbose."""
