"""Save many edits of one table as one release, or nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError

from config_admin.grid.check_edits import Edit, Forbidden, Verdict, judge
from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.models import CeRelease, Origin
from config_admin.restore.restore_rows import RowsBelongTogether, restore_rows


class SavingFailed(ValueError):
    """Nothing was saved: the database refused a row that passed all checks."""


@dataclass(frozen=True)
class SaveResult:
    """Checked edits, saved unless something prevented it."""

    verdict: Verdict
    is_held: bool
    #: Null when they were not saved, and when nothing changed.
    release: CeRelease | None = None


def save(
    table: str,
    edits: Mapping[Any, Edit],
    find_refusal: Forbidden,
    *,
    author: Author,
    reason: str,
    confirmed: Collection[str] = (),
) -> SaveResult:
    """Save the edits of a table as one release. `confirmed`: keys of the confirmed warnings.

    Raises SavingFailed; then nothing is changed.
    """
    verdict = judge(table, edits, find_refusal)
    if verdict.is_held(confirmed) or not verdict.wanted:
        return SaveResult(verdict, verdict.is_held(confirmed))
    try:
        with change_set(Origin.ADMIN, author, reason) as change:
            # From here on nobody else can make a release. If somebody made one since the check, check again.
            if head.lock_head().content_hash != verdict.content_hash:
                verdict = judge(table, edits, find_refusal)
                if verdict.is_held(confirmed):
                    return SaveResult(verdict, True)
            restore_rows({table: verdict.wanted}, checked=False)
    except (DatabaseError, RowsBelongTogether) as error:
        raise SavingFailed(f"Nothing was saved. The database rejected the rows: {error}") from error
    return SaveResult(verdict, False, change.release)
