"""Prompt templates: what a model is asked."""
