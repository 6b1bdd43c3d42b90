"""Restore a release for commands and the API: what it would change, and the new release."""

from collections.abc import Sequence
from typing import NamedTuple

from config_admin.releases.changes import Author
from config_admin.releases.diff import RowDifferences, compare_wanted
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import release_of
from config_admin.releases.undo import RevertConflict, revert_release, roll_back, wanted_by_revert, wanted_by_roll_back
from config_admin.transfer.stranded import Stranded, find_stranded_conversations


class RestorePlan(NamedTuple):
    differences: RowDifferences
    stranded: Sequence[Stranded]


def plan_restore(config_version: int, *, only: bool = False) -> RestorePlan:
    """What `restore_release` would change. Raises NoSuchRelease and RevertConflict."""
    release_of(config_version)  # Not 0, the empty configuration: that would delete all rows.
    wanted, changed = wanted_by_revert(config_version) if only else (wanted_by_roll_back(config_version), [])
    if changed:
        raise RevertConflict(changed)
    return RestorePlan(compare_wanted(wanted), find_stranded_conversations(wanted))


def restore_release(config_version: int, *, only: bool = False, author: Author, reason: str = "") -> CeRelease | None:
    """Make every row what it was in a release. Returns None if nothing changes. `only`: take back just what it changed.

    Raises NoSuchRelease, RestoreRefused, RowsBelongTogether and RevertConflict.
    """
    release_of(config_version)
    restore = revert_release if only else roll_back
    return restore(config_version, author=author, reason=reason)
