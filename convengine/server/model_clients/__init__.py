"""Clients of language models and of word vectors."""
