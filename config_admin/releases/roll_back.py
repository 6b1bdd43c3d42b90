"""Roll back to an older release: a new release with the rows of the old one."""

from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.diff import compare_manifests, differences, rows_after
from config_admin.releases.models import CeConfigHead, CeRelease, Origin
from config_admin.releases.queries import manifest_of
from config_admin.releases.restore_checks import Wanted
from config_admin.releases.restore_rows import restore_rows
from config_admin.releases.tree import RowDifference
from config_admin.releases.working_copy import find_working_copy


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
