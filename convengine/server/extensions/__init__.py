"""Extensions: the deployment's code, its registry, and the ports that call it."""
