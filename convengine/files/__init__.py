"""Reads what people upload: sizes before work, and large files in a process of their own."""


class Unreadable(ValueError):
    """The text is not what it should be, or more than is read."""

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        self.problem, self.line, self.column = problem, line, column
        super().__init__(problem)

    def describe(self) -> str:
        """The problem with its position in the text, as the end of a sentence without its full stop."""
        position = f" at line {self.line}, column {self.column}" if self.column else ""
        return f"{self.problem.rstrip('.')}{position}"
