"""The release that a file is based on: changes of rows made since then are not lost, and can be merged.

A change of the file is a difference from the base; a change of today's configuration likewise. Fields that both changed
differently are conflicts.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from config_admin.editing.links import column_label
from config_admin.releases.models import CeRelease
from config_admin.releases.row_merge import RowMerge, is_same_row
from config_admin.releases.tree import has_same_text
from config_admin.transfer.document import BaseRelease, Document
from config_admin.transfer.natural_keys import Contents
from config_admin.transfer.row_matching import Content, MatchedRows, NewId, match_rows
from config_admin.transfer.values import shorten_value
from config_admin.validation.findings import Finding, Severity

Wanted = Mapping[str, Mapping[Any, Content | None]]


class Base(NamedTuple):
    """The base of a file in this installation, with all its rows."""

    config_version: int
    contents: Contents


def find_base(base: BaseRelease) -> int | None:
    """The release here with the content of a base: that of its number, else the newest; null if there is none."""
    same = CeRelease.objects.filter(content_hash=base.content)
    numbers = set(same.order_by("-pk").values_list("pk", flat=True)[:100])
    return base.release if base.release in numbers else max(numbers, default=None)


def find_lost_changes(wanted: Wanted, existing: Contents, base: Base) -> Iterator[Finding]:
    """An error for each change since the base that an import without merging would take back."""
    for table, rows in wanted.items():
        for pk, after in rows.items():
            now, before = existing[table].get(pk), base.contents[table].get(pk)
            if now is None or before is None or after is None:
                if not is_same_row(now, before):
                    what = "added" if before is None else "deleted" if now is None else "changed"
                    yield _report_lost(table, pk, None, f"This row was {what}", base)
                continue
            for name, value in after.items():
                if not has_same_text(value, now[name]) and not has_same_text(now[name], before.get(name)):
                    changed = f"{column_label(table, name)} was changed to {shorten_value(now[name])}"
                    yield _report_lost(table, pk, name, changed, base)


def _report_lost(table: str, pk: Any, field: str | None, changed: str, base: Base) -> Finding:
    message = (
        f"{changed} after release {base.config_version}, on which the file is based. "
        "Merge both changes (--merge), export again, or overwrite what is here (--overwrite)."
    )
    return Finding("BASE_MOVED", Severity.ERROR, table, pk, field, message)


class MergedRows(NamedTuple):
    """The rows of a merge, and its conflicts."""

    placed: MatchedRows
    conflicts: list[Finding]


def merge_rows(document: Document, existing: Contents, base: Base, new_id: NewId) -> MergedRows:
    """Match the rows of a file with its base, and apply what it changed, field by field, to today's rows."""
    since = {
        table: {pk: row for pk, row in rows.items() if pk not in base.contents[table]}
        for table, rows in existing.items()
    }
    placed = match_rows(document, {table: {**base.contents[table], **since[table]} for table in existing}, new_id)
    merged: dict[str, dict[Any, Content | None]] = {}
    conflicts: list[Finding] = []
    for table, rows in placed.wanted.items():
        for pk, after in rows.items():
            if pk in since[table] and after is None:
                # The file does not know the row.
                continue
            merge = RowMerge(base.contents[table].get(pk), existing[table].get(pk), after)
            problems = list(_find_conflicts(table, pk, merge))
            conflicts += problems
            result = merge.merge_changes()
            if not problems and not is_same_row(result, merge.now):
                merged.setdefault(table, {})[pk] = None if result is None else dict(result)
    placed.wanted = merged
    return MergedRows(placed, conflicts)


def _find_conflicts(table: str, pk: Any, merge: RowMerge) -> Iterator[Finding]:
    """What both sides changed differently."""
    if merge.has_deleted_side():
        sides = "deletes this row, which was changed" if merge.after is None else "changes this row, which was deleted"
        yield _report_conflict(table, pk, None, f"The file {sides} here.")
    before, now, after = merge.before or {}, merge.now or {}, merge.after or {}
    for name in merge.find_fields():
        yield _report_conflict(
            table,
            pk,
            name,
            f"Here it is {shorten_value(now[name])}, in the file {shorten_value(after[name])}; "
            f"before both changes it was {shorten_value(before.get(name))}.",
        )


def _report_conflict(table: str, pk: Any, field: str | None, message: str) -> Finding:
    return Finding("MERGE_CONFLICT", Severity.ERROR, table, pk, field, f"Conflict: {message}")
