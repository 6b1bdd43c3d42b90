"""Undo a change: of one row, or of everything that one release changed."""

from typing import Any

from django.utils.text import capfirst

from config_admin.releases import content
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import changes_of
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.queries import release_of, row_at
from config_admin.releases.restore_checks import Wanted
from config_admin.releases.restore_rows import restore_rows
from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import Content, has_same_text
from config_admin.validation.stored_columns import control_plane


class RevertConflict(ValueError):
    """The rows were changed again since."""

    def __init__(self, rows: list[tuple[str, Any]]) -> None:
        names = ", ".join(f"{capfirst(control_plane()[table]._meta.verbose_name)} {pk}" for table, pk in rows)
        super().__init__(f"Later releases changed these rows again, so this release cannot be undone: {names}.")
        #: Table and primary key of each.
        self.rows = rows


def revert_row(
    table: str, pk: Any, config_version: int, *, author: Author = None, reason: str = "", checked: bool = True
) -> CeRelease | None:
    """Restore one row as it was in a release, or delete it if it did not exist. Returns None if nothing changes.

    Raises NoSuchRelease, KeyError for an unknown table, RowsBelongTogether, and, unless not `checked`, RestoreRefused.
    """
    was = row_at(config_version, table, pk)
    with change_set(Origin.REVERT, author, reason or f"{table} {pk} as in version {config_version}") as change:
        restore_rows({table: {pk: was}}, checked=checked)
    return change.release


def revert_release(
    config_version: int,
    *,
    author: Author = None,
    reason: str = "",
    force: bool = False,
    checked: bool = True,
    origin: Origin = Origin.REVERT,
) -> CeRelease | None:
    """Undo what one release changed, field by field, and nothing else. Returns None when nothing is left to undo.

    Raises NoSuchRelease, RowsBelongTogether, RevertConflict when these fields were changed again since, unless `force`,
    which restores the rows as they were before it, and RestoreRefused, unless not `checked`.
    """
    with change_set(origin, author, reason or f"Undo version {config_version}") as change:
        wanted, changed = wanted_by_revert(config_version)
        if changed and not force:
            raise RevertConflict(changed)
        restore_rows(wanted, checked=checked)
    return change.release


def wanted_by_revert(config_version: int) -> tuple[Wanted, list[tuple[str, Any]]]:
    """What undoing a release would restore, and the rows whose fields were changed again since.

    Those are included as they were before the release. Rows with nothing left to undo are not.
    """
    release = release_of(config_version)
    wanted: dict[str, dict[Any, Content | None]] = {}
    changed: list[tuple[str, Any]] = []
    for table, rows in changes_of(release).items():
        now = content.contents(table, [row.pk for row in rows])
        for row in rows:
            undo = RowMerge(row.after, now.get(row.pk), row.before)
            # A row that the release deleted may exist again with other content.
            is_new = undo.before is None and undo.now is not None and not has_same_text(undo.now, undo.after)
            if has_conflict := is_new or undo.has_conflict():
                changed.append((table, row.pk))
            reverted = row.before if has_conflict else undo.merge_changes()
            if not has_same_text(reverted, undo.now):
                wanted.setdefault(table, {})[row.pk] = reverted
    return wanted, changed
