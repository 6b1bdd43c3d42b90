"""Reads what people upload: sizes before work, and large files in a process of their own."""
