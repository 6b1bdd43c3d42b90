"""Turns that are only tried: in memory, on any configuration, without an effect outside (R132, R133)."""
