"""The pipeline: the order of the steps, the loop that runs them, and the contract of a step."""
