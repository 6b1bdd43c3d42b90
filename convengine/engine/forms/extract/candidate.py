"""A value that a reader found for a field, with its position."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

from convengine.engine.forms.form import Field

Json = Any

#: The confidence of each kind of reading. A higher one overrides others of the same field.
X_EXTRACT, LABEL, DIRECTION, FORMAT, ENUM, SYNONYM, PATTERN, VALUE, FORMER, UNIT, NUMBER, ANSWER, PART = (
    "x-extract",
    "label",
    "direction",
    "format",
    "enum",
    "synonym",
    "pattern",
    "value",
    "former",
    "unit",
    "number",
    "answer",
    "part",
)
SURENESS = {
    X_EXTRACT: 4,
    LABEL: 3,
    DIRECTION: 3,
    FORMAT: 2,
    ENUM: 2,
    SYNONYM: 2,
    PATTERN: 2,
    VALUE: 2,
    FORMER: 2,
    UNIT: 2,
    NUMBER: 1,
    ANSWER: 0,
    PART: 0,
}


@dataclass(frozen=True)
class Candidate:
    """A value for a field. Positions refer to the folded text."""

    field: Field
    start: int
    end: int
    value: Json
    by: str
    #: Why the value is rejected, if its own words say so.
    problem: str | None = None
    #: Where its evidence begins: the name of the field, if present.
    anchor: int | None = None
    #: The part that no other field may use, if shorter: a number without its currency.
    core: tuple[int, int] | None = None
    #: Details of the problem.
    data: Mapping[str, Json] = dataclass_field(default_factory=dict)

    @property
    def begins(self) -> int:
        """Where its evidence begins."""
        return self.start if self.anchor is None else self.anchor

    def overlaps(self, other: "Candidate") -> bool:
        """True when both use the same words."""
        (start, end), (first, last) = self.core or (self.begins, self.end), other.core or (other.begins, other.end)
        return start < last and first < end

    @property
    def sureness(self) -> int:
        """Sort key; greater is more certain."""
        return SURENESS[self.by]

    @property
    def yields(self) -> bool:
        """True when the same digits could be the answer to the question: "9988776655"."""
        return self.by in (NUMBER, UNIT) or (self.by in (FORMAT, VALUE) and self.field.format == "phone")
