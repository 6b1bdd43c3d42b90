"""What an editor is told about a row: one shape for form, import, API and health page (tables 1.8)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """ERROR: the row is not saved. WARNING: it is saved after the editor confirms once."""

    ERROR = "ERROR"
    WARNING = "WARNING"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or may be, with one row."""

    code: str
    severity: Severity
    table: str
    #: The primary key; null for a row that is not stored yet.
    row: Any
    #: The column at which a form shows the message; null when it concerns the row as a whole.
    field: str | None
    message: str

    @property
    def is_error(self) -> bool:
        """True when the row must not be saved."""
        return self.severity is Severity.ERROR

    def as_dict(self) -> dict[str, Any]:
        """The finding as imports and API writes report it."""
        return {
            "table": self.table,
            "row": self.row,
            "field": self.field,
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
        }
