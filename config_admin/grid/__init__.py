"""Tables as a spreadsheet: cells as texts, many edits judged together, and saved as one release or not at all."""
