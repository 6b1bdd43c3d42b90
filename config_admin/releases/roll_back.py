"""Going back to an older release: a new release with the rows of the old one."""

from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import differences
from config_admin.releases.models import CeConfigHead, CeRelease, Origin
from config_admin.releases.put_back import put_back
from config_admin.validation.restoring import Wanted


def roll_back(
    config_version: int, *, author: Author = None, reason: str = "", checked: bool = True
) -> CeRelease | None:
    """Make all rows what they were in a release; gives the new release, or null when nothing differs.

    Turns that run keep the version they pinned. Raises NoSuchRelease, and, unless not `checked`, RestoreRefused.
    """
    with change_set(Origin.ROLLBACK, author, reason or f"Back to version {config_version}") as change:
        newest = CeConfigHead.objects.get(pk=1).config_version
        put_back(wanted_by_roll_back(newest, config_version), checked=checked)
    return change.release


def wanted_by_roll_back(newest: int, config_version: int) -> Wanted:
    """What a roll-back from the newest release would put back. Raises NoSuchRelease."""
    return {table: {row.pk: row.after for row in rows} for table, rows in differences(newest, config_version).items()}
