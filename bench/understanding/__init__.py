"""How much of what people write is read right: the public sets, with and without each principle of reading."""
