"""A file of configuration as values: rows by table, each with its position in the file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from config_admin.validation.draft import Finding
from config_admin.validation.labels import table_title
from convengine.json_value import Json

#: Maximum rows of a file, and maximum values: cells of its tables, lines and items of its text.
MOST_ROWS, MOST_VALUES = 50_000, 1_000_000
#: Characters that begin or separate values in JSON, YAML, CSV and SQL.
_SEPARATORS = (b",", b"\n", b"\r", b"[", b"{", b"(", b";", b"\t")
#: Maximum number of reported errors of a file.
MOST_TOLD = 50


class FileRefused(ValueError):
    """The file cannot be read as configuration at all."""

    def __init__(self, position: str, problem: str, further: Sequence[str] = ()) -> None:
        #: The position in the file in words, and the error.
        self.position, self.problem = position, problem
        #: All known errors.
        self.problems = (f"{position}: {problem}", *further)
        super().__init__("\n".join(self.describe_problems()))

    def __reduce__(self) -> tuple[Any, ...]:
        return FileRefused, (self.position, self.problem, self.problems[1:])

    def describe_problems(self) -> list[str]:
        """The errors, one per line; of very many the first."""
        more = len(self.problems) - MOST_TOLD
        return [*self.problems[:MOST_TOLD], *([f"… and {more} more."] if more > 0 else ())]


#: What a bundle may have beside its tables. Imports leave it out; `convengine apply` takes it.
SECTIONS = ("webhooks", "channels", "keys", "groups", "alert_rules", "documents")

Item = TypeVar("Item")
Value = TypeVar("Value")


def read_all(items: Iterable[Item], read: Callable[[Item], Value]) -> list[Value]:
    """What `read` makes of each item. Raises one FileRefused for all items that it refuses."""
    values, refusals = list[Value](), list[FileRefused]()
    for item in items:
        try:
            values.append(read(item))
        except FileRefused as refused:
            refusals.append(refused)
    if refusals:
        further = [problem for refusal in refusals for problem in refusal.problems][1:]
        raise FileRefused(refusals[0].position, refusals[0].problem, further)
    return values


def check_value_count(name: str, data: bytes) -> None:
    """Refuse a text with very many values before anything reads it. Raises FileRefused."""
    count = 0
    for separator in _SEPARATORS:
        count += data.count(separator)
        if count > MOST_VALUES:
            raise FileRefused(name, f"has more than {MOST_VALUES} values. Split it by tables.")


class ImportMode(StrEnum):
    """How the rows of a file are matched with existing rows."""

    #: The tables of the file become what it says: rows that it does not have are deleted.
    REPLACE = "replace"
    #: Natural key or id name the changed row; rows without an id are new; nothing is deleted.
    UPDATE = "update"
    #: For files of other systems, whose ids mean other rows: an existing row is skipped, the others are new, with their
    #: own id if it is free.
    ADD = "add"


def locate_row(table: str, number: object, word: str = "row") -> str:
    """The position of a row in a file: `Policies, row 2`."""
    return f"{table_title(table)}, {word} {number}"


@dataclass(frozen=True)
class FileRow:
    """One row of a file: column -> JSON value of the column's kind; missing columns have their default."""

    values: Mapping[str, Json]
    #: The position in words, for reports.
    where: str
    #: It replaces the row of its id, if that is one of the same intent and state.
    is_upsert: bool = False


def locate_rows(tables: Mapping[str, Sequence[Mapping[str, Json]]]) -> dict[str, list[FileRow]]:
    return {
        table: [FileRow(row, locate_row(table, number)) for number, row in enumerate(rows, 1)]
        for table, rows in tables.items()
    }


@dataclass(frozen=True)
class Note:
    """A remark of a reader for the report."""

    where: str
    text: str
    #: True when a row or statement is therefore not in the document: it counts as refused.
    refused: bool = False


class BaseRelease(NamedTuple):
    """The release that a file was exported from: its number there, and the hash of its content anywhere."""

    release: int
    content: str


#: The numbers of rows in one place by those in another, by table, where they differ.
Numbers = Mapping[str, Mapping[int, int]]


def read_numbers(stored: Mapping[str, Mapping[str, Any]]) -> Numbers:
    """From JSON, whose keys are texts."""
    return {table: {int(number): int(other) for number, other in pairs.items()} for table, pairs in stored.items()}


class Ancestor(NamedTuple):
    """A content that a file comes from, with the numbers in the file of the rows that had another number there."""

    content: str
    numbers: Numbers = {}


@dataclass(frozen=True)
class Document:
    """All rows of a file. A table that is named and has no rows is emptied by a replacing import."""

    tables: Mapping[str, Sequence[FileRow]]
    mode: ImportMode = ImportMode.REPLACE
    notes: Sequence[Note] = field(default=())
    #: The release that the file was exported from, if it says so.
    base: BaseRelease | None = None
    #: The contents that it comes from, newest first, the base included.
    ancestors: Sequence[Ancestor] = field(default=())
    #: True if it has all tables as they were exported.
    is_whole_export: bool = False
    #: True if changes since the base are merged with those of the file.
    merges: bool = False
    #: True if rows that are here are changed and removed even if nobody knows what that takes back.
    overwrites: bool = False
    #: False when rows without an id are new, whatever their natural key.
    matches_by_key: bool = True
    #: The entries of the installation, by section.
    sections: Mapping[str, Sequence[FileRow]] = field(default_factory=dict)
    #: The keys of further rows to delete, by table.
    deleted: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: Finds what its user may not change, in each plan that is made of it.
    judge: Callable[[Any], Iterable[Finding]] | None = None
    #: The content hash of the configuration whose changes its user saw. None if nobody needs to see them.
    seen: str | None = None

    @property
    def count(self) -> int:
        return sum(map(len, self.tables.values()))
