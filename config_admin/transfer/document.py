"""A file of configuration as values: rows by table, each with its place in the file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = Any


#: So many problems of a file are told at once.
MOST_TOLD = 50


class FileRefused(ValueError):
    """The file cannot be read as configuration at all."""

    def __init__(self, place: str, problem: str, further: Sequence[str] = ()) -> None:
        #: Where in the file, in words; and what is wrong there.
        self.place, self.problem = place, problem
        #: All that is wrong, as far as it is known.
        self.problems = (f"{place}: {problem}", *further)
        super().__init__("\n".join(self.told()))

    def told(self) -> list[str]:
        """The problems, each a line; of very many the first."""
        more = len(self.problems) - MOST_TOLD
        return [*self.problems[:MOST_TOLD], *([f"… and {more} more."] if more > 0 else ())]


def refuse(found: Sequence[FileRefused]) -> None:
    """Raise one for all that were found, if any."""
    if found:
        further = [problem for one in found for problem in one.problems][1:]
        raise FileRefused(found[0].place, found[0].problem, further)


class Mode(StrEnum):
    """How the rows of a file find their places among those that are there."""

    #: The tables of the file become what it says: rows that it does not have go away.
    REPLACE = "replace"
    #: Natural key or id name the row that is changed; rows without an id are new; nothing goes away.
    UPDATE = "update"
    #: For files of other systems, whose ids mean other rows: a row that is there already is left alone, the others
    #: are new, under their own id where it is free.
    ADD = "add"


@dataclass(frozen=True)
class FileRow:
    """One row as a file has it: column -> JSON value of the column's kind; what is left out has its default."""

    values: Mapping[str, Json]
    #: In words, as a report names it.
    where: str


@dataclass(frozen=True)
class Note:
    """Something that a reader did or did not take over, for the report."""

    where: str
    text: str
    #: True when a row or statement is not in the document because of it: it counts as refused (R76).
    refused: bool = False


@dataclass(frozen=True)
class Document:
    """All rows of a file. A table that is named and has no rows is, in a replacing import, emptied."""

    tables: Mapping[str, Sequence[FileRow]]
    mode: Mode = Mode.REPLACE
    notes: Sequence[Note] = field(default=())

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(map(len, self.tables.values()))
