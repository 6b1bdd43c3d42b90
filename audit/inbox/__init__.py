"""The inbox: messages that nobody understood, in groups, with what to teach next."""
