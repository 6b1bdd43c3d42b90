"""Calls of language models: prompts in, validated answers out, within a budget."""
