"""Prompts and templates: choosing, checking and rendering them."""
