"""The save checks: every check of a row before it is saved, on a snapshot."""
