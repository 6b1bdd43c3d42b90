"""Drafts: named sets of edits over the live configuration, tried and reviewed before they are published."""
