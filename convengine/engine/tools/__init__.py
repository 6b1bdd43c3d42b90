"""What steps and executors share about tools: faults, arguments, groups and results."""
