"""Matchers: one module per rule type, which tests a condition."""
