"""A topic: an intent with all rows that belong to it, renamed, copied, switched, exported or deleted as one."""
