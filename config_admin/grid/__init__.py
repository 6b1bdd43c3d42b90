"""Tables as a spreadsheet: cells as texts, many edits checked together, saved as one release or not at all."""
