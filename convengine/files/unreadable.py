"""Why a text cannot be read, and where."""


class Unreadable(ValueError):
    """The text is not what it should be, or more than is read."""

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        self.problem, self.line, self.column = problem, line, column
        super().__init__(problem)
