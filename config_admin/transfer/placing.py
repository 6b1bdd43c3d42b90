"""Where the rows of a file go: which row each of them changes, or that it is new, and what goes away (R76)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from config_admin.releases import tree
from config_admin.releases.blobs import canonical
from config_admin.releases.content import as_json, control_plane, kept_columns, key_of
from config_admin.transfer.document import Document, FileRow, Mode
from config_admin.transfer.naming import (
    NATURAL,
    TOOL,
    TOOL_CODE,
    TOOL_PARTS,
    Contents,
    file_columns,
    natural_key,
)
from config_admin.transfer.values import ValueRefused, default, kept
from config_admin.validation.findings import Finding, Severity
from config_admin.validation.older_forms import Change, in_jinja
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows

Json = Any
Content = dict[str, Json]
#: Gives an id that no row of the table has had.
NewId = Callable[[str], int]


@dataclass
class Placed:
    """What a document wants of the rows that are there. Rows that it leaves as they are do not stand in it."""

    #: The rows to be by table and key; null for one that goes away.
    wanted: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    #: Where the rows stand in the file, all of them, by table and key.
    origins: dict[tuple[str, Any], str] = field(default_factory=dict)
    #: Errors of rows that found no place, beside where they stand.
    refused: list[tuple[str, Finding]] = field(default_factory=list)
    #: What was said in older template forms, by table and key.
    conversions: dict[tuple[str, Any], Sequence[Change]] = field(default_factory=dict)
    #: Rows whose id is taken here, with the id that they get: (table, id of the file) -> new id.
    renumbered: dict[tuple[str, int], int] = field(default_factory=dict)


def place(document: Document, there: Contents, new_id: NewId) -> Placed:
    """The places of all rows. `there`: all rows of all tables."""
    placed = Placed()
    codes = {natural_key(TOOL, row): pk for pk, row in there[TOOL].items()}
    for table in control_plane():
        if table in document.tables:
            _Table(table, document, there[table], codes, new_id, placed).place()
    _follow_rules(placed)
    _drop_parts(placed, there)
    return placed


def fresh_ids(document: Document, there: Contents, highest: Callable[[str], int] = lambda table: 0) -> NewId:
    """Ids behind those of all rows that are there or in the file, and behind the `highest` that a table ever had."""
    last: dict[str, int] = {}

    def fresh(table: str) -> int:
        if table not in last:
            given = (row.values.get(key_of(table)) for row in document.tables.get(table, ()))
            last[table] = max((pk for pk in (*there[table], *given) if isinstance(pk, int)), default=0)
            last[table] = max(last[table], highest(table))
        last[table] += 1
        return last[table]

    return fresh


class _Table:
    """One table's rows on their way."""

    def __init__(
        self,
        table: str,
        document: Document,
        there: Mapping[Any, Mapping[str, Json]],
        codes: dict[tuple[str, ...] | None, Any],
        new_id: NewId,
        placed: Placed,
    ) -> None:
        self.table, self.document, self.there, self.placed = table, document, there, placed
        self.key, self.new_id, self.codes = key_of(table), new_id, codes
        self.columns = file_columns(table)
        self.wanted: dict[Any, Content | None] = {}
        self.taken: set[Any] = set()
        self.now = as_json(timezone.now())
        self.by_name = {natural_key(table, row): pk for pk, row in there.items()}
        self.same = self._by_content() if document.mode is Mode.ADD and table not in NATURAL else {}

    def place(self) -> None:
        """Give every row its place, and, where the file replaces the table, take away the others."""
        for row in self.document.tables[self.table]:
            try:
                values = self._values(row)
                anew, changes = in_jinja(self.table, _Attributes(values))
                values |= anew
                pk = self._place_of(row, values)
            except _Refused as refused:
                self.placed.refused.append((row.where, refused.finding))
                self._spare(row)
                continue
            self.taken.add(pk)
            self.placed.origins[self.table, pk] = row.where
            if changes:
                self.placed.conversions[self.table, pk] = changes
            self._want(pk, values)
        if self.document.mode is Mode.REPLACE:
            self.wanted |= {pk: None for pk in self.there if pk not in self.taken}
        if self.wanted:
            self.placed.wanted[self.table] = self.wanted

    def _spare(self, row: FileRow) -> None:
        """The stored row that a refused one names is not taken for one that the file does not have."""
        given = row.values.get(self.key)
        named = self.by_name.get(natural_key(self.table, row.values))
        self.taken |= {pk for pk in (given, named) if isinstance(pk, (int, str)) and pk in self.there}

    def _values(self, row: FileRow) -> Content:
        values: Content = {}
        for name, given in row.values.items():
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise self._refused("COLUMN_UNKNOWN", name, f"{self.table} has no column {name}.{hint}")
            try:
                values[name] = kept(self.columns[name], given)
            except ValueRefused as error:
                raise self._refused("SHAPE_INVALID", name, str(error)) from None
        return values

    def _place_of(self, row: FileRow, values: Content) -> Any:
        if self.table in NATURAL:
            pk = self._by_name(values)
        else:
            pk = values.get(self.key)
            if isinstance(pk, int) and pk < 1:
                raise self._refused("OUT_OF_RANGE", self.key, f"{pk} received; ids are whole numbers from 1 up.")
            if self.document.mode is Mode.ADD:
                pk = self._of_stranger(pk, values)
            elif pk is None:
                pk = self.new_id(self.table)
        if pk in self.taken:
            first = self.placed.origins[self.table, pk]
            raise self._refused("DUPLICATE", self.key, f"{first} is the same row. Leave one of them out.", pk)
        return pk

    def _by_name(self, values: Content) -> Any:
        name = natural_key(self.table, values)
        if self.table in TOOL_PARTS:
            if name not in self.codes:
                raise self._refused(
                    "TOOL_UNKNOWN", TOOL_CODE, f"There is no tool {values.get(TOOL_CODE)}; the file may bring it."
                )
            return self.codes[name]
        if self.key in NATURAL[self.table]:
            if not values.get(self.key):
                raise self._refused("FIELD_REQUIRED", self.key, "The row needs this: it is its name.")
            return values[self.key]
        pk = self.by_name.get(name)
        if pk is None:
            pk = self.by_name[name] = self.new_id(self.table)
        if self.table == TOOL:
            self.codes[name] = pk
        return pk

    def _of_stranger(self, pk: Any, values: Content) -> Any:
        """A row of another system: the row here that says the same, else a new one."""
        told = self._content(None, values)
        if found := self.same.get(_telling(told, self.key)):
            place = found.pop()
        elif pk is None or pk in self.there or pk in self.taken:
            place = self.new_id(self.table)
        else:
            place = pk
        if pk is not None and place != pk:
            self.placed.renumbered[self.table, pk] = place
        return place

    def _want(self, pk: Any, values: Content) -> None:
        content = self._content(pk, values)
        content[self.key] = pk
        if not tree.same(content, self.there.get(pk)):
            self.wanted[pk] = content

    def _content(self, pk: Any, values: Content) -> Content:
        """All columns of the row: as given, else as they are there, else, and in a table made anew, their default."""
        before = self.there.get(pk)
        content: Content = {}
        for name, column in kept_columns(self.table).items():
            if name in values:
                content[name] = values[name]
            elif before is not None and (self.document.mode is not Mode.REPLACE or name == "created_at"):
                content[name] = before[name]
            else:
                content[name] = self.now if name == "created_at" else default(column)
        return content

    def _by_content(self) -> dict[bytes, list[Any]]:
        found: dict[bytes, list[Any]] = {}
        for pk in sorted(self.there, reverse=True):
            found.setdefault(_telling(self.there[pk], self.key), []).append(pk)
        return found

    def _refused(self, code: str, field: str, message: str, pk: Any = None) -> "_Refused":
        return _Refused(Finding(code, Severity.ERROR, self.table, pk, field, message))


class _Refused(Exception):
    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


class _Attributes:
    """A row's values, asked for by attributes; what the file leaves out is null."""

    def __init__(self, values: Content) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> None:
        return None


def _telling(content: Mapping[str, Json], key: str) -> bytes:
    """What a row says, without its id and its age."""
    return canonical({name: value for name, value in content.items() if name not in (key, "created_at")})


def _follow_rules(placed: Placed) -> None:
    """Progress texts for the events of a rule that got another id follow it."""
    for row in placed.wanted.get(rows.Verbose.table, {}).values():
        if row is not None and (new := placed.renumbered.get((rows.Rule.table, row["rule_id"]))):
            row["rule_id"] = new


def _drop_parts(placed: Placed, there: Contents) -> None:
    """A tool that goes away takes the row of its own kind with it, as deleting it does."""
    gone = [pk for pk, row in placed.wanted.get(TOOL, {}).items() if row is None]
    for table in TOOL_PARTS:
        for pk in gone:
            if pk in there[table]:
                placed.wanted.setdefault(table, {}).setdefault(pk, None)
