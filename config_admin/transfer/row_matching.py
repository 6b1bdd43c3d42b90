"""Match the rows of a file: which row each changes, whether it is new, and what is deleted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from typing import Any

from django.utils import timezone

from config_admin.releases import tree
from config_admin.releases.blobs import canonical
from config_admin.releases.content import as_json
from config_admin.transfer.ancestry import MergeBase
from config_admin.transfer.document import Document, FileRow, ImportMode
from config_admin.transfer.natural_keys import (
    SCOPE,
    TOOL,
    TOOL_CODE,
    TOOL_PARTS,
    Contents,
    get_key,
    get_natural_key,
    list_file_columns,
    suggest_column,
)
from config_admin.transfer.values import ValueRefused, get_default, normalise_value
from config_admin.validation.draft import Finding, Severity
from config_admin.validation.labels import table_title
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.turn import rows
from convengine.json_value import Json
from convengine.server.interfaces.older_templates import ConvertedExpression, convert_row

Content = dict[str, Json]
#: Returns an id that no row of the table ever had.
NewId = Callable[[str], int]


@dataclass
class MatchedRows:
    """The effect of a document on existing rows, without unchanged ones."""

    #: The resulting rows by table and key. None for a deleted one.
    wanted: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    #: The position of each row in the file, by table and key.
    origins: dict[tuple[str, Any], str] = field(default_factory=dict)
    #: Errors of rows that could not be matched, with their position.
    refused: list[tuple[str, Finding]] = field(default_factory=list)
    #: Converted older template forms, by table and key.
    conversions: dict[tuple[str, Any], Sequence[ConvertedExpression]] = field(default_factory=dict)
    #: Rows whose id is taken, with their new id: (table, id of the file) -> new id.
    renumbered: dict[tuple[str, int], int] = field(default_factory=dict)
    #: New rows whose number is not the file's choice, as (table, number).
    numbered: set[tuple[str, int]] = field(default_factory=set)


def match_rows(document: Document, existing: Contents, new_id: NewId, base: MergeBase | None = None) -> MatchedRows:
    """Match all rows. `existing`: all rows of all tables. `base`: what the numbers of the file mean here."""
    placed = MatchedRows()
    codes = {get_natural_key(TOOL, row): pk for pk, row in existing[TOOL].items()}
    for table in control_plane():
        if table in document.tables or table in document.deleted:
            _Table(table, document, existing[table], codes, new_id, placed, base).match_rows()
    # A deleted tool takes its own row with it.
    gone = [pk for pk, row in placed.wanted.get(TOOL, {}).items() if row is None]
    for table, pk in product(TOOL_PARTS, gone):
        if pk in existing[table]:
            placed.wanted.setdefault(table, {}).setdefault(pk, None)
    return placed


def fresh_ids(document: Document, existing: Contents, highest: Callable[[str], int] = lambda table: 0) -> NewId:
    """Ids after those of all existing rows, and after the `highest` that a table ever had, without those of the file.

    A file cannot choose them: one with a very high number would leave no number for the rows after it.
    """
    free: dict[str, Iterator[int]] = {}

    def fresh(table: str) -> int:
        if table not in free:
            given = {
                pk for row in document.tables.get(table, ()) if isinstance(pk := row.values.get(key_of(table)), int)
            }
            last = max((pk for pk in existing[table] if isinstance(pk, int)), default=0)
            free[table] = (pk for pk in count(max(last, highest(table)) + 1) if pk not in given)
        return next(free[table])

    return fresh


class _Table:
    def __init__(
        self,
        table: str,
        document: Document,
        existing: Mapping[Any, Mapping[str, Json]],
        codes: dict[tuple[str, ...], Any],
        new_id: NewId,
        placed: MatchedRows,
        base: MergeBase | None,
    ) -> None:
        self.table, self.document, self.existing, self.placed = table, document, existing, placed
        self.key, self.new_id, self.codes, self.base = key_of(table), new_id, codes, base
        self.columns = list_file_columns(table)
        self.wanted: dict[Any, Content | None] = {}
        self.taken: set[Any] = set()
        #: Stored rows that refused rows of the file may mean: they are not deleted.
        self.spared: set[Any] = set()
        self.now = as_json(timezone.now())
        self.is_named = get_key(table).is_unique
        self.by_name = {get_natural_key(table, row): pk for pk, row in existing.items()} if self.is_named else {}
        self.same: dict[bytes, list[Any]] = {}
        if not self.is_named and (base or document.mode is ImportMode.ADD):
            self.same = self._group_by_content(
                {pk: row for pk, row in existing.items() if base is None or pk not in base.contents[table]}
            )
        #: The stored rows of rows without an id, by position in the file.
        self.matches: dict[int, Any] = {}

    def match_rows(self) -> None:
        """Match every row, and if the file replaces the table, delete the others."""
        read = list(self._read_rows())
        if not self.is_named and self.document.mode is not ImportMode.ADD and self.document.matches_by_key:
            self.matches = self._match_by_key([values for _, values, _ in read])
        for number, (row, values, changes) in enumerate(read):
            try:
                pk = self._find_key(number, values, is_upsert=row.is_upsert)
            except _Refused as refused:
                self._refuse(row, refused)
                continue
            self.taken.add(pk)
            self.placed.origins[self.table, pk] = row.where
            if changes:
                self.placed.conversions[self.table, pk] = changes
            content = self._complete_row(pk, values) | {self.key: pk}
            if not tree.has_same_text(content, self.existing.get(pk)):
                self.wanted[pk] = content
        if self.document.mode is ImportMode.REPLACE:
            self.wanted |= {pk: None for pk in self.existing if pk not in self.taken | self.spared}
        self.wanted |= {pk: None for pk in self.document.deleted.get(self.table, ()) if pk in self.existing}
        if self.wanted:
            self.placed.wanted[self.table] = self.wanted

    def _read_rows(self) -> Iterator[tuple[FileRow, Content, Sequence[ConvertedExpression]]]:
        """The readable rows of the file, with their values in today's forms."""
        for row in self.document.tables.get(self.table, ()):
            try:
                values = self._normalise_row(row)
            except _Refused as refused:
                self._refuse(row, refused)
                continue
            converted, changes = convert_row(self.table, values)
            yield row, values | converted, changes

    def _match_by_key(self, read: Sequence[Content]) -> dict[int, Any]:
        """The stored row of each row without an id: the equal one, else the next one with the same natural key."""
        keyless = {number: values for number, values in enumerate(read) if values.get(self.key) is None}
        if not keyless:
            return {}
        named = {*(values.get(self.key) for values in read), *self.document.deleted.get(self.table, ())}
        free = {pk: row for pk, row in self.existing.items() if pk not in named}
        matches: dict[int, Any] = {}
        by_content = self._group_by_content(free)
        for number, values in keyless.items():
            if candidates := by_content.get(_encode_content(self._complete_row(None, values), self.key)):
                matches[number] = candidates.pop()
        by_key: dict[tuple[str, ...], list[Any]] = {}
        for pk in sorted(free.keys() - matches.values(), key=lambda pk: (-(free[pk].get("priority") or 0), -pk)):
            by_key.setdefault(get_natural_key(self.table, free[pk]), []).append(pk)
        for number, values in keyless.items():
            if number not in matches and (
                same := by_key.get(get_natural_key(self.table, self._complete_row(None, values)))
            ):
                matches[number] = same.pop()
        return matches

    def _refuse(self, row: FileRow, refused: "_Refused") -> None:
        self.placed.refused.append((row.where, refused.finding))
        # The stored row that it names does not count as missing in the file.
        given = row.values.get(self.key)
        if given is None:
            key = self._fold_key(row.values)
            self.spared |= {pk for pk, stored in self.existing.items() if self._fold_key(stored) == key}
        elif isinstance(given, (int, str)):
            self.spared.add(given)

    def _fold_key(self, values: Mapping[str, Json]) -> list[str]:
        """The natural key in lower case, with defaults for missing columns."""
        columns = kept_columns(self.table)
        defaults = {name: get_default(columns[name]) for name in get_key(self.table).columns if name in columns}
        return [part.lower() for part in get_natural_key(self.table, {**defaults, **values})]

    def _normalise_row(self, row: FileRow) -> Content:
        """The values of a row as a release stores them. Raises _Refused."""
        values: Content = {}
        for name, given in row.values.items():
            if name not in self.columns:
                hint = suggest_column(self.table, name, self.columns)
                raise self._refuse_row(
                    "COLUMN_UNKNOWN", name, f"{table_title(self.table)} have no column {name}.{hint}"
                )
            try:
                values[name] = normalise_value(self.columns[name], given)
            except ValueRefused as error:
                raise self._refuse_row("SHAPE_INVALID", name, str(error)) from None
        if self.table == rows.Verbose.table and (number := values.get("rule_id")):
            # A progress text for the events of a rule follows the rule to its number here.
            own_number = self.base.find_row(rows.Rule.table, number) if self.base else None
            values["rule_id"] = self.placed.renumbered.get((rows.Rule.table, number), own_number or number)
        return values

    def _find_key(self, number: int, values: Content, *, is_upsert: bool = False) -> Any:
        """The key of the row here that a row of the file means, or a new one. Raises _Refused.

        `number`: its position in the table. `is_upsert`: it may replace the row of its id.
        """
        if self.is_named:
            pk = self._find_by_name(values)
        else:
            pk = values.get(self.key)
            if isinstance(pk, int) and pk < 1:
                raise self._refuse_row(
                    "OUT_OF_RANGE", self.key, f"{pk} is not valid. Numbers of rows are whole numbers from 1."
                )
            if self.document.mode is ImportMode.ADD:
                pk = self._match_foreign_row(pk, values, is_upsert=is_upsert)
            elif self.base and pk is not None:
                pk = self._find_number(pk, values)
            elif pk is None:
                pk = self.matches[number] if number in self.matches else self._number_row()
        if pk in self.taken:
            first = self.placed.origins[self.table, pk]
            raise self._refuse_row("DUPLICATE", self.key, f"{first} is the same row. Remove one of them.", pk)
        return pk

    def _find_by_name(self, values: Content) -> Any:
        """The key of the row here with the same natural key, or a new one; for a part of a tool that of the tool.

        Raises _Refused if the tool or the key is missing.
        """
        name = get_natural_key(self.table, values)
        if self.table in TOOL_PARTS:
            if name not in self.codes:
                raise self._refuse_row(
                    "TOOL_UNKNOWN", TOOL_CODE, f"The tool {values.get(TOOL_CODE)} does not exist. Add it to the file."
                )
            return self.codes[name]
        if self.key in get_key(self.table).columns:
            if not values.get(self.key):
                raise self._refuse_row(
                    "FIELD_REQUIRED", self.key, "This value is required, because it identifies the row."
                )
            return values[self.key]
        pk = self.by_name.get(name)
        if pk is None:
            pk = self.by_name[name] = self._number_row()
        if self.table == TOOL:
            self.codes[name] = pk
        return pk

    def _number_row(self) -> int:
        number = self.new_id(self.table)
        self.placed.numbered.add((self.table, number))
        return number

    def _match_foreign_row(self, pk: Any, values: Content, *, is_upsert: bool) -> Any:
        """The key for a row of another system: that of the equal row here, its own if that is free, else a new one.

        An upsert replaces the row of its id if that belongs to the same intent and state.
        """
        content = self._complete_row(None, values)
        stored, scope = self.existing.get(pk), [name for name in SCOPE if name in content]
        if candidates := self.same.get(_encode_content(content, self.key)):
            target_pk = candidates.pop()
        elif is_upsert and pk not in self.taken and stored and scope and all(stored[at] == content[at] for at in scope):
            target_pk = pk
        elif pk is None or pk in self.existing or pk in self.taken:
            target_pk = self._number_row()
        else:
            target_pk = pk
        if pk is not None and target_pk != pk:
            self.placed.renumbered[self.table, pk] = target_pk
        return target_pk

    def _find_number(self, number: Any, values: Content) -> Any:
        """The row of the base that this number means; for a row that is newer than the base, one of its own."""
        assert self.base is not None
        own_number = self.base.find_row(self.table, number)
        if own_number is None:
            return self._match_foreign_row(number, values, is_upsert=False)
        if own_number != number:
            self.placed.renumbered[self.table, number] = own_number
        return own_number

    def _complete_row(self, pk: Any, values: Content) -> Content:
        """All columns of the row: as given, else as stored, else, and in a replaced table, their default."""
        before = self.existing.get(pk)
        content: Content = {}
        for name, column in kept_columns(self.table).items():
            if name in values:
                content[name] = values[name]
            elif before is not None and (self.document.mode is not ImportMode.REPLACE or name == "created_at"):
                content[name] = before[name]
            else:
                content[name] = self.now if name == "created_at" else get_default(column)
        return content

    def _group_by_content(self, rows: Mapping[Any, Mapping[str, Json]]) -> dict[bytes, list[Any]]:
        by_content: dict[bytes, list[Any]] = {}
        for pk in sorted(rows, reverse=True):
            by_content.setdefault(_encode_content(rows[pk], self.key), []).append(pk)
        return by_content

    def _refuse_row(self, code: str, field: str, message: str, pk: Any = None) -> "_Refused":
        return _Refused(Finding(code, Severity.ERROR, self.table, pk, field, message))


class _Refused(Exception):
    def __init__(self, finding: Finding) -> None:
        self.finding = finding
        super().__init__(finding.message)


def _encode_content(content: Mapping[str, Json], key: str) -> bytes:
    """The content of a row, without its id and its creation time."""
    return canonical({name: value for name, value in content.items() if name not in (key, "created_at")})
