"""Why a tool gave no result: a stable code and a text (pipeline-2 3.3, 16.2)."""

from collections.abc import Mapping
from typing import Any

Json = Any


class ToolFault(Exception):
    """What an executor raises; the caller turns it into a ToolAnswer, never into a failed turn.

    `told` goes to the audit as it does for a success (`ToolAnswer.told`).
    """

    def __init__(self, code: str, message: str, told: Mapping[str, Json] | None = None) -> None:
        self.code = code
        self.message = message
        self.told = dict(told or {})
        super().__init__(f"{code}: {message}")
