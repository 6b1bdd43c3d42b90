"""The answer: choosing the row, and producing its text or document."""
