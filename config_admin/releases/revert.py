"""Taking back a change: of one row, or of everything that one release changed."""

from typing import Any

from config_admin.releases import content, tree
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import differences
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.put_back import put_back
from config_admin.releases.queries import release_of, row_at


class RevertConflict(ValueError):
    """Rows that this would take back were changed again since."""

    def __init__(self, rows: list[tuple[str, Any]]) -> None:
        names = ", ".join(f"{table} {pk}" for table, pk in rows)
        super().__init__(f"Changed again since, so taking this back would undo that too: {names}.")
        #: Table and primary key of each.
        self.rows = rows


def revert_row(
    table: str, pk: Any, config_version: int, *, author: Author = None, reason: str = "", checked: bool = True
) -> CeRelease | None:
    """Make one row what it was in a release, or gone if it was not there; null when it is so already.

    Raises NoSuchRelease, KeyError for an unknown table, RowsBelongTogether, and, unless not `checked`, RestoreRefused.
    """
    was = row_at(config_version, table, pk)
    with change_set(Origin.REVERT, author, reason or f"{table} {pk} as in version {config_version}") as change:
        put_back({table: {pk: was}}, checked=checked)
    return change.release


def revert_release(
    config_version: int, *, author: Author = None, reason: str = "", force: bool = False, checked: bool = True
) -> CeRelease | None:
    """Take back what one release changed, and nothing else; null when nothing of it is left.

    Raises NoSuchRelease, RowsBelongTogether, RevertConflict when rows of it were changed since, unless `force`, and
    RestoreRefused, unless not `checked`.
    """
    release = release_of(config_version)
    found = differences(release.parent_id or 0, config_version)
    with change_set(Origin.REVERT, author, reason or f"Without the change of version {config_version}") as change:
        if not force and (changed := _changed_since(found)):
            raise RevertConflict(changed)
        put_back({table: {row.pk: row.before for row in rows} for table, rows in found.items()}, checked=checked)
    return change.release


def _changed_since(found: dict[str, list[tree.Difference]]) -> list[tuple[str, Any]]:
    changed = []
    for table, rows in found.items():
        now = content.contents(table, [row.pk for row in rows])
        changed += [
            (table, row.pk)
            for row in rows
            if not (tree.same(now.get(row.pk), row.after) or tree.same(now.get(row.pk), row.before))
        ]
    return changed
