"""Saving many edits of one table: all of them as one release, or nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError

from config_admin.grid.judging import Edit, Forbidden, Verdict, judge
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.put_back import RowsBelongTogether, put_back


class SavingFailed(ValueError):
    """Nothing was saved: the database refused a row that all checks let pass."""


@dataclass(frozen=True)
class Saved:
    """Edits that were judged, and saved unless something held them."""

    verdict: Verdict
    is_held: bool
    #: Null when they were held, and when nothing is different.
    release: CeRelease | None = None


def save(
    table: str,
    edits: Mapping[Any, Edit],
    forbidden: Forbidden,
    *,
    author: Author,
    reason: str,
    confirmed: Collection[str] = (),
) -> Saved:
    """Save the edits of a table as one release. `confirmed`: keys of the warnings that somebody has seen.

    Raises SavingFailed; then nothing is changed.
    """
    verdict = judge(table, edits, forbidden)
    if verdict.is_held(confirmed) or not verdict.wanted:
        return Saved(verdict, verdict.is_held(confirmed))
    try:
        with change_set(Origin.ADMIN, author, reason) as change:
            # Nobody else can make a release from here on. Judged long ago are edits that were judged before somebody's.
            if head.locked().content_hash != verdict.content_hash:
                verdict = judge(table, edits, forbidden)
                if verdict.is_held(confirmed):
                    return Saved(verdict, True)
            put_back({table: verdict.wanted}, checked=False)
    except (DatabaseError, RowsBelongTogether) as error:
        raise SavingFailed(f"The database refused the rows; nothing was saved: {error}") from error
    return Saved(verdict, False, change.release)
