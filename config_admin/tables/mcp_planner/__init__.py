"""Planner prompts: how a model plans tool calls."""
