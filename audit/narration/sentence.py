"""The parts of an account: sentences of words and facts from events."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from convengine.engine.turn.stage import Tone
from convengine.json_value import Json


class RowRef(NamedTuple):
    """A configuration row in a sentence."""

    table: str
    pk: Any


@dataclass(frozen=True)
class Fact:
    """A fact in a sentence, and its origin."""

    #: The text in the sentence.
    text: str
    #: The value in the payload of the event with this number, at this path: that value, or among its items or keys.
    value: Json
    seq: int
    path: tuple[str | int, ...]
    #: The row that it is, or comes from.
    row: RowRef | None = None
    #: The column of that row, if the text comes from the release; else blank.
    column: str = ""


Part = str | Fact
Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Sentence:
    """One sentence of an account."""

    #: The stage of the sentence.
    kind: str
    #: The part of the turn that the stage belongs to.
    family: str
    tone: Tone
    parts: Parts
    #: The numbers of its events, in order.
    seqs: tuple[int, ...]
    #: All conditions of its rule, on demand.
    conditions: tuple[str, ...] = ()
    #: The patterns of its rows, on demand.
    patterns: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "".join(map(get_text, self.parts))

    @property
    def facts(self) -> Iterator[Fact]:
        """Its facts, in order."""
        return (part for part in self.parts if isinstance(part, Fact))

    @property
    def rows(self) -> Sequence[RowRef]:
        """Its rows, without duplicates."""
        return list(dict.fromkeys(fact.row for fact in self.facts if fact.row))


def get_text(part: Part) -> str:
    return part if isinstance(part, str) else part.text


def join_parts(items: Sequence[Parts]) -> Parts:
    """Items as a list in words: "a, b and c". Each item may have several parts."""
    joined: list[Part] = []
    for number, item in enumerate(items):
        joined += [*(() if not number else (" and ",) if number == len(items) - 1 else (", ",)), *item]
    return tuple(joined)
