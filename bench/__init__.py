"""Benchmarks of a turn, as ratios to plain applications that are measured in the same run (`make bench`)."""
