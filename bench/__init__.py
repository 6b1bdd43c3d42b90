"""How fast a turn is, as ratios to plain applications that are measured in the same run (`make bench`)."""
