"""Reading what people upload: sizes before work, in time that grows with the text, long work in a process of its own."""
