"""Roll back to an older release: a new release with the rows of the old one."""

from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import differences
from config_admin.releases.models import CeConfigHead, CeRelease, Origin
from config_admin.restore.checks import Wanted
from config_admin.restore.restore_rows import restore_rows


def roll_back(
    config_version: int, *, author: Author = None, reason: str = "", checked: bool = True
) -> CeRelease | None:
    """Restore all rows as they were in a release; returns the new release, or null when nothing differs.

    Running turns keep the version they pinned. Raises NoSuchRelease, and, unless not `checked`, RestoreRefused.
    """
    with change_set(Origin.ROLLBACK, author, reason or f"Roll back to version {config_version}") as change:
        newest = CeConfigHead.objects.get(pk=1).config_version
        restore_rows(wanted_by_roll_back(newest, config_version), checked=checked)
    return change.release


def wanted_by_roll_back(newest: int, config_version: int) -> Wanted:
    """What a rollback from the newest release would restore. Raises NoSuchRelease."""
    return {table: {row.pk: row.after for row in rows} for table, rows in differences(newest, config_version).items()}
