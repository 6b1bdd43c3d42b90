"""What a reader found for a field, and where."""

from dataclasses import dataclass
from typing import Any

from convengine.schemas.form import Field

Json = Any

#: How sure each way of reading is: a surer one makes the others of the same field silent.
X_EXTRACT, LABEL, DIRECTION, FORMAT, ENUM, SYNONYM, PATTERN, UNIT, NUMBER, ANSWER = (
    "x-extract",
    "label",
    "direction",
    "format",
    "enum",
    "synonym",
    "pattern",
    "unit",
    "number",
    "answer",
)
SURENESS = {
    X_EXTRACT: 4,
    LABEL: 3,
    DIRECTION: 3,
    FORMAT: 2,
    ENUM: 2,
    SYNONYM: 2,
    PATTERN: 2,
    UNIT: 2,
    NUMBER: 1,
    ANSWER: 0,
}


@dataclass(frozen=True)
class Candidate:
    """A value for a field. Places are those of the folded text."""

    field: Field
    start: int
    end: int
    value: Json
    by: str
    #: Why the value cannot be taken, where its words say so by themselves.
    problem: str | None = None
    #: Where its evidence begins: the name of the field, if that stood there.
    anchor: int | None = None
    #: The part that no other field may read, where that is less: a number without its currency.
    core: tuple[int, int] | None = None

    @property
    def begins(self) -> int:
        """Where its evidence begins."""
        return self.start if self.anchor is None else self.anchor

    def overlaps(self, other: "Candidate") -> bool:
        """True when both read the same words."""
        (start, end), (first, last) = self.core or (self.begins, self.end), other.core or (other.begins, other.end)
        return start < last and first < end

    @property
    def sureness(self) -> int:
        """Greater is surer."""
        return SURENESS[self.by]

    @property
    def yields(self) -> bool:
        """True when the same digits may as well be the answer to what was asked: "9988776655"."""
        return self.by in (NUMBER, UNIT) or (self.by == FORMAT and self.field.format == "phone")
