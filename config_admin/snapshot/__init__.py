"""The configuration of a release as the frozen value that a turn reads."""
