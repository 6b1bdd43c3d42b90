"""Phrases as people type them: example sentences, matched on their telling words."""
