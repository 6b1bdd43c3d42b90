"""What an account is made of: sentences of words, and of facts that stand in the turn's events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

Json = Any


class Tone(StrEnum):
    """How a reader should take a sentence."""

    PLAIN = "plain"
    GOOD = "good"
    WARNING = "warning"
    ERROR = "error"


class RowRef(NamedTuple):
    """A configuration row that a sentence names."""

    table: str
    pk: Any


@dataclass(frozen=True)
class Fact:
    """Something that a sentence names, and where it stands."""

    #: As the sentence says it.
    text: str
    #: As it stands in the payload of the event with this number, at this path: there, among its items or its keys.
    value: Json
    seq: int
    path: tuple[str | int, ...]
    #: The row that it is, or stands in.
    row: RowRef | None = None
    #: The column of that row, for what the turn's release says and the event only points at; else blank.
    column: str = ""

    def as_json(self) -> dict[str, Json]:
        """The fact as the API tells it."""
        told: dict[str, Json] = {"text": self.text, "seq": self.seq, "path": list(self.path)}
        if self.row:
            told["row"] = {"table": self.row.table, "id": self.row.pk}
        return told | ({"column": self.column} if self.column else {})


Part = str | Fact
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Sentence:
    """One sentence of an account."""

    #: The stage that it tells of; of a decision, `DECISION:` and its kind.
    kind: str
    #: The part of the turn that the stage belongs to.
    family: str
    tone: Tone
    parts: Parts
    #: The numbers of the events that it rests on, in order.
    seqs: tuple[int, ...]

    @property
    def text(self) -> str:
        """The sentence."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def facts(self) -> Iterator[Fact]:
        """What it names, in order."""
        return (part for part in self.parts if isinstance(part, Fact))

    @property
    def rows(self) -> Sequence[RowRef]:
        """The rows that it rests on, each once."""
        return list(dict.fromkeys(fact.row for fact in self.facts if fact.row))

    def as_json(self) -> dict[str, Json]:
        """The sentence as the API tells it."""
        return {
            "text": self.text,
            "kind": self.kind,
            "family": self.family,
            "tone": self.tone.value,
            "seqs": list(self.seqs),
            "rows": [{"table": row.table, "id": row.pk} for row in self.rows],
            "parts": [{"text": part} if isinstance(part, str) else part.as_json() for part in self.parts],
        }
