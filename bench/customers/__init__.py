"""Whole conversations with customers who react to each answer. A person plays each customer from a sheet."""
