"""The save checks for rows of an older release that are about to be restored."""

from collections.abc import Callable, Mapping
from typing import Any

from config_admin.releases.active import snapshots
from config_admin.releases.compile import Chunk, compile_chunk
from config_admin.releases.tree import Content
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.installation import describe_installation
from config_admin.validation.save_checks import check_delete, check_row
from config_admin.validation.world import World
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
    after = overlay_rows(now, wanted, restored)
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
    """The configuration with these rows."""
    return overlay_rows(now, wanted, {table: compile_rows(table, rows) for table, rows in wanted.items()})


def overlay_rows(now: Snapshot, wanted: Wanted, restored: Mapping[str, Chunk]) -> Snapshot:
    """The configuration with these rows, as `compile_rows` gives them."""
    tables = dict(now.tables)
    for name, chunk in restored.items():
        table = tables[name]
        rows = {pk: row for pk, row in table.by_pk.items() if pk not in wanted[name]}
        rows |= {row.pk: row for row in chunk.rows}
        bad = {pk: problems for pk, problems in table.unreadable.items() if pk not in wanted[name]}
        tables[name] = Table(name, [rows[pk] for pk in sorted(rows)], {**bad, **chunk.unreadable})
    return Snapshot(now.config_version, tables, now.defaults)
