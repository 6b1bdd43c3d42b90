"""Calls that leave the process: one deadline for the whole of each, and only to addresses that it may have."""
