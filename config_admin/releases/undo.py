"""Undo a change: of one row, of one release, or of all since one; and stop a gradual release, which does the last."""

from typing import Any

from django.db import transaction
from django.utils.text import capfirst

from config_admin.releases import content
from config_admin.releases.audience import end_gradual_release, lock_gradual_release
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import changes_of, compare_manifests, differences, rows_after
from config_admin.releases.models import CeConfigHead, CeGradualRelease, CeRelease, GradualStatus, Origin
from config_admin.releases.queries import manifest_of, release_of, row_at
from config_admin.releases.restore_rows import Wanted, restore_rows
from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import Content, RowDifference, has_same_text
from config_admin.releases.working_copy import find_working_copy
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


def roll_back(
    config_version: int, *, author: Author = None, reason: str = "", checked: bool = True
) -> CeRelease | None:
    """Restore all rows as they were in a release. Returns the new release, or None when nothing differs.

    Running turns keep the version they pinned. Raises NoSuchRelease, and, unless not `checked`, RestoreRefused.
    """
    with change_set(Origin.ROLLBACK, author, reason or f"Roll back to version {config_version}") as change:
        restore_rows(wanted_by_roll_back(config_version), checked=checked)
    return change.release


def wanted_by_roll_back(config_version: int) -> Wanted:
    """What a rollback would restore. Raises NoSuchRelease."""
    return rows_after(differences_by_roll_back(config_version))


def differences_by_roll_back(config_version: int) -> dict[str, list[RowDifference]]:
    """What differs between the newest release, or the open draft, and an older release. Raises NoSuchRelease."""
    if copy := find_working_copy():
        return compare_manifests(copy.blobs, copy.manifest, manifest_of(config_version))
    return differences(CeConfigHead.objects.get(pk=1).config_version, config_version)


def stop_gradual_release(author: str, reason: str = "", gradual_id: int | None = None) -> CeGradualRelease:
    """Everybody runs on what the others ran on, with their next message. Raises NotGradual, RowsBelongTogether.

    `gradual_id`: the release that the caller judged; None for the running one.
    """
    with transaction.atomic():
        row = lock_gradual_release(gradual_id)
        title = f"Gradual release {row.config_version} stopped"
        end_gradual_release(row, GradualStatus.STOPPED, author, reason)
        # Rows that were live a moment ago need no checks, and no draft.
        with change_set(Origin.ROLLBACK, author, f"{title}: {reason}" if reason else title) as change:
            change.is_stop = True
            restore_rows(wanted_by_roll_back(row.parent_version), checked=False)
    return row
