"""The release that a file is based on: changes of rows made since then are not lost, and can be merged.

A change of the file is a difference from the base, and so is a change of today's configuration. Fields that both
changed differently are conflicts.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import RowDifference, has_same_text
from config_admin.transfer.ancestry import MergeBase
from config_admin.transfer.document import Document
from config_admin.transfer.natural_keys import Contents
from config_admin.transfer.row_matching import Content, MatchedRows, NewId, match_rows
from config_admin.transfer.values import shorten_value
from config_admin.validation.draft import Finding, Severity
from config_admin.validation.labels import column_label
from config_admin.validation.secret_columns import mask_value

Wanted = Mapping[str, Mapping[Any, Content | None]]


def find_lost_changes(wanted: Wanted, existing: Contents, base: MergeBase) -> Iterator[Finding]:
    """An error for each change since the base that an import without merging would take back."""
    for table, rows in wanted.items():
        for pk, after in rows.items():
            now, before = existing[table].get(pk), base.contents[table].get(pk)
            if now is None or before is None or after is None:
                if not has_same_text(now, before):
                    what = "added" if before is None else "deleted" if now is None else "changed"
                    yield _report_lost(table, pk, None, f"This row was {what}", base)
                continue
            for name, value in after.items():
                if not has_same_text(value, now[name]) and not has_same_text(now[name], before.get(name)):
                    changed = f"{column_label(table, name)} was changed to {_show_value(table, name, now[name])}"
                    yield _report_lost(table, pk, name, changed, base)


def _report_lost(table: str, pk: Any, field: str | None, changed: str, base: MergeBase) -> Finding:
    message = (
        f"{changed} after release {base.config_version}, on which the file is based. "
        'Choose "Merge" (--merge) for both changes, export again, or choose "Overwrite" (--overwrite).'
    )
    return Finding("BASE_MOVED", Severity.ERROR, table, pk, field, message)


class MergedRows(NamedTuple):
    """The rows of a merge, its conflicts, and the content of the file."""

    placed: MatchedRows
    conflicts: list[Finding]
    theirs: Contents


def find_taken_back(wanted: Wanted, existing: Contents) -> Iterator[Finding]:
    """An error for each row here that an import would change or remove, although nothing says what changed here."""
    for table, rows in wanted.items():
        for pk, after in rows.items():
            if (now := existing[table].get(pk)) is None:
                continue
            changes = "; ".join(
                f"{column_label(table, name)} here {_show_value(table, name, now_value)}, "
                f"in the file {_show_value(table, name, value)}"
                for name, (now_value, value) in RowDifference(pk, now, after).fields.items()
            )
            message = (
                f"The import would {f'change this row: {changes}' if after else 'remove this row'}. "
                "This installation does not know the base of the file. "
                'Choose "Overwrite" (--overwrite), or "Leave these rows out" (--rest).'
            )
            yield Finding("BASE_UNKNOWN", Severity.ERROR, table, pk, None, message)


def merge_rows(document: Document, existing: Contents, base: MergeBase, new_id: NewId) -> MergedRows:
    """Match the rows of a file with its base, and apply what it changed, field by field, to today's rows."""
    since = {
        table: {pk: row for pk, row in rows.items() if pk not in base.contents[table]}
        for table, rows in existing.items()
    }
    known = {table: {**base.contents[table], **since[table]} for table in existing}
    placed = match_rows(document, known, new_id, base)
    theirs = apply_rows(known, placed.wanted)
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
            if not problems and not has_same_text(result, merge.now):
                merged.setdefault(table, {})[pk] = None if result is None else dict(result)
    placed.wanted = merged
    return MergedRows(placed, conflicts, theirs)


def apply_rows(contents: Contents, wanted: Wanted) -> Contents:
    """A configuration after a change of rows."""
    return {
        table: {pk: row for pk, row in {**rows, **wanted.get(table, {})}.items() if row is not None}
        for table, rows in contents.items()
    }


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
            "Here it is {}, in the file {}; before both changes it was {}.".format(
                *(_show_value(table, name, row.get(name)) for row in (now, after, before))
            ),
        )


def _report_conflict(table: str, pk: Any, field: str | None, message: str) -> Finding:
    return Finding("MERGE_CONFLICT", Severity.ERROR, table, pk, field, f"Conflict: {message}")


def _show_value(table: str, name: str, value: Any) -> str:
    return shorten_value(mask_value(table, name, value))
