"""Findings about a row: one form for edit pages, import, API and health."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """ERROR: the row is not saved. WARNING: it is saved after the editor confirms once."""

    ERROR = "ERROR"
    WARNING = "WARNING"


@dataclass(frozen=True)
class Finding:
    """One error or warning about one row."""

    code: str
    severity: Severity
    table: str
    #: The primary key. None for a new row.
    row: Any
    #: The column of the message. None for the row as a whole.
    field: str | None
    message: str

    @property
    def is_error(self) -> bool:
        """True when the row must not be saved."""
        return self.severity is Severity.ERROR

    def as_dict(self) -> dict[str, Any]:
        """The finding for imports and the API."""
        return {
            "table": self.table,
            "row": self.row,
            "field": self.field,
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
        }
