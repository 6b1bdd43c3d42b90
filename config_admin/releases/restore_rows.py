"""Restore rows as they were in a release, for every kind of undo, with the save checks for them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, models

from config_admin.releases import content
from config_admin.releases.active import snapshots
from config_admin.releases.blobs import batches
from config_admin.releases.change_set import current, record_write
from config_admin.releases.compile import Chunk, compile_chunk
from config_admin.releases.renamed_intents import list_renames
from config_admin.releases.tree import Content
from config_admin.validation.draft import Draft, Finding
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_delete, check_row
from config_admin.validation.stored_columns import control_plane
from config_admin.validation.world import World
from convengine.engine.turn import rows
from convengine.engine.turn.rows import ROW_TYPE_OF, Intent
from convengine.engine.turn.snapshot import Snapshot, Table

#: For each table the resulting rows by primary key. None for a deleted one.
Wanted = Mapping[str, Mapping[Any, Content | None]]


def check_restored_rows(wanted: Wanted, judged: Callable[[], None] = lambda: None) -> list[Finding]:
    """The findings for these rows: checked together, in the resulting configuration.

    `judged` is called for each resulting row.
    """
    now, world = snapshots.current(), describe_installation()
    restored = {table: compile_rows(table, rows) for table, rows in wanted.items()}
    after = _overlay_rows(now, wanted, restored)
    findings: list[Finding] = []
    for table, chunk in restored.items():
        stored = now.tables[table].by_pk
        for row in chunk.rows:
            unreadable = chunk.unreadable.get(row.pk, {})
            for field, value in unreadable.items():
                message = f"In that release the value was {value[:80]!r}, which is not valid. Restore this row by hand."
                findings.append(Draft(row, after, world).error("SHAPE_INVALID", field, message))
            if not unreadable:
                # Of a row with unreadable values nothing else can be checked.
                findings += check_row(row, after, world)
            judged()
        gone = [stored[pk] for pk, row in wanted[table].items() if row is None and pk in stored]
        findings += [each for row in gone for each in check_delete(row, after)]
    return findings


def find_new_problems(snapshot: Snapshot, world: World, wanted: Wanted) -> list[Finding]:
    """The findings of the save checks, without those that the stored rows have already."""
    stored = (snapshot.row(ROW_TYPE_OF[table], pk) for table, members in wanted.items() for pk in members)
    known = {_identify(finding) for row in stored if row is not None for finding in check_row(row, snapshot, world)}
    return [finding for finding in check_restored_rows(wanted) if _identify(finding) not in known]


def _identify(finding: Finding) -> tuple[Any, ...]:
    """A finding by its row; that of an intent without its code, which a rename changes."""
    row = None if finding.table == Intent.table else finding.row
    return finding.table, row, finding.code, finding.field


def compile_rows(table: str, rows: Mapping[Any, Content | None]) -> Chunk:
    """The resulting rows as the engine would read them."""
    contents = [row for row in rows.values() if row is not None]
    columns = sorted(contents[0]) if contents else []
    return compile_chunk(table, {"columns": columns, "rows": [[row[name] for name in columns] for row in contents]})


def lay_rows_over(now: Snapshot, wanted: Wanted) -> Snapshot:
    return _overlay_rows(now, wanted, {table: compile_rows(table, rows) for table, rows in wanted.items()})


def _overlay_rows(now: Snapshot, wanted: Wanted, restored: Mapping[str, Chunk]) -> Snapshot:
    """The configuration with these rows, as `compile_rows` gives them."""
    tables = dict(now.tables)
    for name, chunk in restored.items():
        table = tables[name]
        rows = {pk: row for pk, row in table.by_pk.items() if pk not in wanted[name]}
        rows |= {row.pk: row for row in chunk.rows}
        bad = {pk: problems for pk, problems in table.unreadable.items() if pk not in wanted[name]}
        tables[name] = Table(name, [rows[pk] for pk in sorted(rows)], {**bad, **chunk.unreadable})
    return Snapshot(now.config_version, tables, now.defaults)


class RowsBelongTogether(ValueError):
    """A row would lose the row that it belongs to."""


class RestoreRefused(ValueError):
    """Rows of the older release fail the present save checks."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        #: The errors, with row, field, code and remedy.
        self.findings = findings
        super().__init__("; ".join(f"{f.table} {f.row}, {f.field or 'row'}: {f.code}: {f.message}" for f in findings))


def restore_rows(wanted: Wanted, *, checked: bool = True) -> None:
    """Restore the content of rows. Call it in a change set.

    `checked`: run the save checks first. It is false for callers who have checked the rows, and for what takes back a
    release whatever that holds. None in place of a content deletes the row.

    Rows are deleted first and inserted afterwards, so that two rows can swap a unique name; the history still shows a
    change, because it compares contents. Columns that the engine writes stay unchanged.

    Raises RestoreRefused when a row has an error, RowsBelongTogether when that leaves a row without its tool.
    """
    if checked and (errors := [finding for finding in check_restored_rows(wanted) if finding.is_error]):
        raise RestoreRefused(errors)
    with record_write() as change:
        for table in wanted:
            change.touch(control_plane()[table], wanted[table])
        before = write_rows(wanted)
        try:
            # Refused here, with a message, instead of at the commit.
            connection.check_constraints(table_names=list(control_plane()))
        except IntegrityError as error:
            message = "A tool has its own settings that are not part of this change. Change those first."
            raise RowsBelongTogether(message) from error
        if (intents := rows.Intent.table) in before:
            stored = {pk: content.content_of(row) for pk, row in before[intents].items()}
            change.renamed_intents.update(list_renames(stored, wanted[intents]))


def write_rows(wanted: Wanted) -> dict[str, dict[Any, models.Model]]:
    """Write the content of rows, without a check and outside of change sets; returns the rows as they were."""
    tables = [table for table in control_plane() if table in wanted]
    before = {table: content.load_rows(table, list(wanted[table])) for table in tables}
    for table in reversed(tables):
        for pks in batches(before[table]):
            # Without a collector: rows to delete together are in `wanted`, others must stay.
            _query_plain_rows(table).filter(pk__in=pks)._raw_delete(using=DEFAULT_DB_ALIAS)
    for table in tables:
        _insert_rows(table, wanted[table], before[table])
    return before


def _query_plain_rows(table: str) -> "models.QuerySet[Any]":
    return models.QuerySet(control_plane()[table])


def _insert_rows(table: str, contents: Mapping[Any, Content | None], before: Mapping[Any, Any]) -> None:
    """Insert the contents as rows; columns that releases do not store keep their values from `before`."""
    model = control_plane()[table]
    made: list[Any] = []
    for pk, row in contents.items():
        if row is not None:
            instance: Any = before.get(pk) or model()
            for name, value in content.column_values(table, row).items():
                setattr(instance, name, value)
            if change := current():
                instance.updated_by = change.author_name
            made.append(instance)
    _query_plain_rows(table).bulk_create(made)
