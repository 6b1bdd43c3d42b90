"""Open a draft: a transaction writes its rows into the tables, and is rolled back at the end."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, connection, transaction

from config_admin.drafts.edits import RowName, merge_edits, store_edits
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.releases import head, tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.change_set import get_released_head
from config_admin.releases.queries import manifest_of
from config_admin.releases.restore_rows import Wanted, write_rows
from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import RowDifference, has_same_text
from config_admin.releases.working_copy import WorkingCopy, use_working_copy

#: How often the live configuration is read again if it changes meanwhile.
_ATTEMPTS = 5


class DraftEnded(LookupError):
    """The draft was published, discarded or deleted."""

    def __str__(self) -> str:
        return "This draft has ended: it was published or discarded. Open another draft."


class RowsCollide(ValueError):
    """A new row of the draft has the unique name of a row that is live meanwhile."""


@contextmanager
def open_draft(
    draft_id: int, editor: Any = None, reason: str = "", *, writing: bool = False, decides: bool = True
) -> Iterator[CeDraft]:
    """The configuration of the draft is in the tables, and in `snapshots.current()`, until the end.

    `writing`: the changes made inside become edits of the draft, by this editor; nobody else edits it meanwhile. Raises
    DraftEnded and RowsCollide. Without `decides`, a conflict stays in fields that the changes leave as the draft has
    them, because nobody saw them.
    """
    # Before the transaction: the lock for releasing earlier writes must not last as long as a page.
    get_live_head()
    with transaction.atomic():
        query = CeDraft.objects.select_for_update() if writing else CeDraft.objects
        draft = query.filter(pk=draft_id, status=DraftStatus.OPEN).first()
        if draft is None:
            raise DraftEnded(draft_id)
        conflicts = {} if decides or not writing else merge_edits(draft).conflicts
        copy, wanted = read_draft(draft)
        with transaction.atomic():
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET LOCAL convengine.draft = 'on'")
            try:
                write_rows(wanted)
            except IntegrityError as error:
                raise RowsCollide(str(error)) from error
            try:
                with use_working_copy(copy):
                    yield draft
            finally:
                transaction.set_rollback(True)
        if writing:
            store_edits(draft, _keep_conflicts(copy.list_edits(), conflicts), editor, reason)
        for write in copy.later:
            write()


def _keep_conflicts(
    edits: dict[str, list[RowDifference]], conflicts: Mapping[RowName, RowMerge]
) -> dict[str, list[RowDifference]]:
    """The edits, based on what the draft was based on where both sides changed something that was not edited now."""
    return {
        table: [_keep_conflict(row, conflicts[table, row.pk]) if (table, row.pk) in conflicts else row for row in rows]
        for table, rows in edits.items()
    }


def _keep_conflict(row: RowDifference, merge: RowMerge) -> RowDifference:
    """The edit, based so that fields which it leaves as the draft has them stay in conflict."""
    before = merge.before and dict(merge.before)
    if row.after is None or row.before is None or before is None or merge.has_deleted_side():
        return row._replace(before=before)
    own = merge.merge_changes() or {}
    older_values = {name: before.get(name) for name in merge.find_fields() if has_same_text(row.after[name], own[name])}
    return row._replace(before={**row.before, **older_values})


def read_draft(draft: CeDraft) -> tuple[WorkingCopy, Wanted]:
    """The live configuration with the edits of a draft, and the rows of these edits."""
    for _ in range(_ATTEMPTS):
        live, merged = get_live_head(), merge_edits(draft)
        # The rows are those of this release, unless one was made between the two.
        if head.newest() == live:
            break
    blobs, below = Blobs(), manifest_of(live)
    manifest = dict(below)
    for table, rows in merged.wanted.items():
        root = tree.patch(blobs, table, manifest.pop(table, None), rows)
        if root:
            manifest[table] = root
    return WorkingCopy(draft.title, live, manifest, below, blobs, draft_id=draft.pk), merged.wanted


def get_live_head() -> int:
    """The number of the release in force, after writes outside of the application have one. Locks only for these."""
    text = head.read()
    if text and (now := head.Head.parse(text)).settled:
        return now.config_version
    return get_released_head().config_version
