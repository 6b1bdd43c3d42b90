"""Sessions in the pipeline: their lifecycle, the meaning of a message, and resumption."""
