"""Policies: messages that are stopped before anything else."""
