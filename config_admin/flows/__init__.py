"""Start a flow: make an intent with its phrases, data, rules and answers from a few words."""
