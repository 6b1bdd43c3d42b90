"""Background work: periodic jobs, their runs and leases, the worker, and threads."""
