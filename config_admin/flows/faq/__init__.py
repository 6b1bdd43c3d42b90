"""Many questions with their answers, from a spreadsheet, as intents."""
