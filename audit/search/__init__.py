"""Finding turns by text, outcome, row, time, duration and cost."""
