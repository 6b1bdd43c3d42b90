"""Documents: their sections, and the passages and sentences of them that answer a question."""
