"""Classifiers of phrases and vectors of texts, which all processes share: stored once, made in the background."""
