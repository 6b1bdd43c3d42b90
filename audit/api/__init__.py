"""The audit endpoints: access, parameters, and answers about one conversation."""
