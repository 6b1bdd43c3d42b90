"""Making an import: all of it as one release, or nothing (R76)."""

from dataclasses import dataclass

from django.db import DatabaseError

from config_admin.releases import head
from config_admin.releases.change_set import change_set
from config_admin.releases.changes import Author
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.put_back import RowsBelongTogether, put_back
from config_admin.transfer.document import Document
from config_admin.transfer.planning import Plan, Progress, plan, silent


class ImportRefused(ValueError):
    """Nothing was imported: rows of the file have errors."""

    def __init__(self, found: Plan) -> None:
        #: The import as it was judged.
        self.plan = found
        super().__init__("; ".join(f"{e.where}, {e.finding.field or 'row'}: {e.finding.message}" for e in found.errors))


class ImportFailed(ValueError):
    """Nothing was imported: the database refused a row that all checks let pass."""


@dataclass(frozen=True)
class Imported:
    """An import that was made."""

    plan: Plan
    #: Null when the configuration was so already.
    release: CeRelease | None


def bring(
    document: Document, *, author: Author, reason: str, rest: bool = False, progress: Progress = silent
) -> Imported:
    """Import a document. `rest`: without the rows that have errors, which the plan lists.

    Raises ImportRefused, and ImportFailed; then nothing is changed.
    """
    found = plan(document, rest=rest, progress=progress)
    if found.refused:
        raise ImportRefused(found)
    try:
        return _made(found, author, reason, rest, progress)
    except (DatabaseError, RowsBelongTogether) as error:
        raise ImportFailed(f"The database refused the rows; nothing was imported: {error}") from error


def _made(found: Plan, author: Author, reason: str, rest: bool, progress: Progress) -> Imported:
    with change_set(Origin.IMPORT, author, reason) as change:
        # Nobody else can make a release from here on. Judged long ago are rows that were judged before somebody's.
        if head.locked().content_hash != found.content_hash:
            found = plan(found.document, rest=rest, progress=progress)
            if found.refused:
                raise ImportRefused(found)
        count = sum(map(len, found.placed.wanted.values()))
        progress("written", 0, count)
        put_back(found.placed.wanted, checked=False)
    progress("written", count, count)
    return Imported(found, change.release)
