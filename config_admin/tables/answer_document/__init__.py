"""Answer documents: texts whose sections answer questions."""
