"""Match the rows of a file: which row each changes, whether it is new, and what is deleted (R76)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from config_admin.editing.links import table_title
from config_admin.releases import tree
from config_admin.releases.blobs import canonical
from config_admin.releases.content import as_json, control_plane, kept_columns, key_of
from config_admin.transfer.document import Document, FileRow, Mode
from config_admin.transfer.natural_keys import (
    NATURAL,
    TOOL,
    TOOL_CODE,
    TOOL_PARTS,
    Contents,
    get_natural_key,
    list_file_columns,
)
from config_admin.transfer.values import ValueRefused, get_default, normalise_value
from config_admin.validation.findings import Finding, Severity
from convengine.engine.older_templates.rows import Change, convert_row
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows

Json = Any
Content = dict[str, Json]
#: Returns an id that no row of the table ever had.
NewId = Callable[[str], int]


@dataclass
class MatchedRows:
    """The effect of a document on existing rows, without unchanged ones."""

    #: The resulting rows by table and key; null for a deleted one.
    wanted: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    #: The position of each row in the file, by table and key.
    origins: dict[tuple[str, Any], str] = field(default_factory=dict)
    #: Errors of rows that could not be matched, with their position.
    refused: list[tuple[str, Finding]] = field(default_factory=list)
    #: Converted older template forms, by table and key.
    conversions: dict[tuple[str, Any], Sequence[Change]] = field(default_factory=dict)
    #: Rows whose id is taken, with their new id: (table, id of the file) -> new id.
    renumbered: dict[tuple[str, int], int] = field(default_factory=dict)


def match_rows(document: Document, existing: Contents, new_id: NewId) -> MatchedRows:
    """Match all rows. `there`: all rows of all tables."""
    placed = MatchedRows()
    codes = {get_natural_key(TOOL, row): pk for pk, row in existing[TOOL].items()}
    for table in control_plane():
        if table in document.tables or table in document.deleted:
            _Table(table, document, existing[table], codes, new_id, placed).match_rows()
    _follow_rules(placed)
    _drop_parts(placed, existing)
    return placed


def fresh_ids(document: Document, existing: Contents, highest: Callable[[str], int] = lambda table: 0) -> NewId:
    """Ids after those of all existing rows and rows of the file, and after the `highest` that a table ever had."""
    last: dict[str, int] = {}

    def fresh(table: str) -> int:
        if table not in last:
            given = (row.values.get(key_of(table)) for row in document.tables.get(table, ()))
            last[table] = max((pk for pk in (*existing[table], *given) if isinstance(pk, int)), default=0)
            last[table] = max(last[table], highest(table))
        last[table] += 1
        return last[table]

    return fresh


class _Table:
    """The rows of one table during matching."""

    def __init__(
        self,
        table: str,
        document: Document,
        existing: Mapping[Any, Mapping[str, Json]],
        codes: dict[tuple[str, ...] | None, Any],
        new_id: NewId,
        placed: MatchedRows,
    ) -> None:
        self.table, self.document, self.existing, self.placed = table, document, existing, placed
        self.key, self.new_id, self.codes = key_of(table), new_id, codes
        self.columns = list_file_columns(table)
        self.wanted: dict[Any, Content | None] = {}
        self.taken: set[Any] = set()
        self.now = as_json(timezone.now())
        self.by_name = {get_natural_key(table, row): pk for pk, row in existing.items()}
        self.same = self._by_content() if document.mode is Mode.ADD and table not in NATURAL else {}

    def match_rows(self) -> None:
        """Match every row, and if the file replaces the table, delete the others."""
        for row in self.document.tables.get(self.table, ()):
            try:
                values = self._values(row)
                converted, changes = convert_row(self.table, values)
                values |= converted
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
            self.wanted |= {pk: None for pk in self.existing if pk not in self.taken}
        self.wanted |= {pk: None for pk in self.document.deleted.get(self.table, ()) if pk in self.existing}
        if self.wanted:
            self.placed.wanted[self.table] = self.wanted

    def _spare(self, row: FileRow) -> None:
        """The stored row that a refused one names does not count as missing in the file."""
        given = row.values.get(self.key)
        named = self.by_name.get(get_natural_key(self.table, row.values))
        self.taken |= {pk for pk in (given, named) if isinstance(pk, (int, str)) and pk in self.existing}

    def _values(self, row: FileRow) -> Content:
        values: Content = {}
        for name, given in row.values.items():
            if name not in self.columns:
                hint = did_you_mean(name, self.columns)
                raise self._refuse_row(
                    "COLUMN_UNKNOWN", name, f"{table_title(self.table)} have no column {name}.{hint}"
                )
            try:
                values[name] = normalise_value(self.columns[name], given)
            except ValueRefused as error:
                raise self._refuse_row("SHAPE_INVALID", name, str(error)) from None
        return values

    def _place_of(self, row: FileRow, values: Content) -> Any:
        if self.table in NATURAL:
            pk = self._by_name(values)
        else:
            pk = values.get(self.key)
            if isinstance(pk, int) and pk < 1:
                raise self._refuse_row(
                    "OUT_OF_RANGE", self.key, f"{pk} is not valid. Numbers of rows are whole numbers from 1."
                )
            if self.document.mode is Mode.ADD:
                pk = self._of_stranger(pk, values)
            elif pk is None:
                pk = self.new_id(self.table)
        if pk in self.taken:
            first = self.placed.origins[self.table, pk]
            raise self._refuse_row("DUPLICATE", self.key, f"{first} is the same row. Remove one of them.", pk)
        return pk

    def _by_name(self, values: Content) -> Any:
        name = get_natural_key(self.table, values)
        if self.table in TOOL_PARTS:
            if name not in self.codes:
                raise self._refuse_row(
                    "TOOL_UNKNOWN", TOOL_CODE, f"The tool {values.get(TOOL_CODE)} does not exist. Add it to the file."
                )
            return self.codes[name]
        if self.key in NATURAL[self.table]:
            if not values.get(self.key):
                raise self._refuse_row(
                    "FIELD_REQUIRED", self.key, "This value is required, because it identifies the row."
                )
            return values[self.key]
        pk = self.by_name.get(name)
        if pk is None:
            pk = self.by_name[name] = self.new_id(self.table)
        if self.table == TOOL:
            self.codes[name] = pk
        return pk

    def _of_stranger(self, pk: Any, values: Content) -> Any:
        """A row of another system: the equal row here, else a new one."""
        content = self._content(None, values)
        if candidates := self.same.get(_telling(content, self.key)):
            target_pk = candidates.pop()
        elif pk is None or pk in self.existing or pk in self.taken:
            target_pk = self.new_id(self.table)
        else:
            target_pk = pk
        if pk is not None and target_pk != pk:
            self.placed.renumbered[self.table, pk] = target_pk
        return target_pk

    def _want(self, pk: Any, values: Content) -> None:
        content = self._content(pk, values)
        content[self.key] = pk
        if not tree.has_same_text(content, self.existing.get(pk)):
            self.wanted[pk] = content

    def _content(self, pk: Any, values: Content) -> Content:
        """All columns of the row: as given, else as stored, else, and in a replaced table, their default."""
        before = self.existing.get(pk)
        content: Content = {}
        for name, column in kept_columns(self.table).items():
            if name in values:
                content[name] = values[name]
            elif before is not None and (self.document.mode is not Mode.REPLACE or name == "created_at"):
                content[name] = before[name]
            else:
                content[name] = self.now if name == "created_at" else get_default(column)
        return content

    def _by_content(self) -> dict[bytes, list[Any]]:
        by_content: dict[bytes, list[Any]] = {}
        for pk in sorted(self.existing, reverse=True):
            by_content.setdefault(_telling(self.existing[pk], self.key), []).append(pk)
        return by_content

    def _refuse_row(self, code: str, field: str, message: str, pk: Any = None) -> "_Refused":
        return _Refused(Finding(code, Severity.ERROR, self.table, pk, field, message))


class _Refused(Exception):
    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


def _telling(content: Mapping[str, Json], key: str) -> bytes:
    """The content of a row, without its id and its creation time."""
    return canonical({name: value for name, value in content.items() if name not in (key, "created_at")})


def _follow_rules(placed: MatchedRows) -> None:
    """Progress texts for the events of a rule follow it to its new id."""
    for row in placed.wanted.get(rows.Verbose.table, {}).values():
        if row is not None and (new := placed.renumbered.get((rows.Rule.table, row["rule_id"]))):
            row["rule_id"] = new


def _drop_parts(placed: MatchedRows, existing: Contents) -> None:
    """A deleted tool takes its own row with it."""
    gone = [pk for pk, row in placed.wanted.get(TOOL, {}).items() if row is None]
    for table in TOOL_PARTS:
        for pk in gone:
            if pk in existing[table]:
                placed.wanted.setdefault(table, {}).setdefault(pk, None)
