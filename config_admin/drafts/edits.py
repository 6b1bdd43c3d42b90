"""The edits of a draft, merged with the live configuration, which moves on below it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.db import models
from django.utils import timezone

from config_admin.drafts.models import CeDraft, CeDraftEdit, DraftStatus
from config_admin.releases.blobs import BATCH, batches, canonical, hash_of
from config_admin.releases.changes import name_author
from config_admin.releases.content import contents, up_to_date
from config_admin.releases.make_release import reserve_ids
from config_admin.releases.row_merge import RowMerge
from config_admin.releases.tree import Content, RowDifference, has_same_text
from config_admin.validation.stored_columns import control_plane, to_key
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.scope import ANY

#: Table and primary key.
RowName = tuple[str, Any]


class DraftConflict(ValueError):
    """The draft and the live configuration changed the same field of a row differently."""

    def __init__(self, rows: list[RowName]) -> None:
        self.rows = rows
        count = "1 row was" if len(rows) == 1 else f"{len(rows)} rows were"
        super().__init__(f"{count} changed live and in the draft, differently. Decide on the page of the draft.")


@dataclass
class MergedEdits:
    """The edits of a draft over the live configuration of now."""

    #: For each edited row its content, with the live changes of other fields. None for a deleted one.
    wanted: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    #: These rows in the live configuration.
    live: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    conflicts: dict[RowName, RowMerge] = field(default_factory=dict)
    edits: dict[RowName, CeDraftEdit] = field(default_factory=dict)
    #: The draft has edits, perhaps only such as are live already.
    has_edits: bool = False

    @property
    def differences(self) -> dict[str, list[RowDifference]]:
        """What the draft would change live, by table."""
        by_table = {
            table: [RowDifference(pk, self.live[table][pk], row) for pk, row in sorted(rows.items())]
            for table, rows in self.wanted.items()
        }
        return {table: by_table[table] for table in control_plane() if by_table.get(table)}

    def explain_emptiness(self) -> str:
        """Why there is nothing to publish; blank if there is something."""
        if self.wanted:
            return ""
        if self.has_edits:
            return "All changes of the draft are live already, so there is nothing to publish. Discard the draft."
        return "The draft has no changes yet, so there is nothing to publish."


def merge_edits(draft: CeDraft) -> MergedEdits:
    """Read the edits of a draft, and merge each with the live row. One query, and one for each table.

    An edit that was made live meanwhile, as it is, is left out.
    """
    merged = MergedEdits()
    by_table: dict[str, dict[Any, CeDraftEdit]] = defaultdict(dict)
    for edit in CeDraftEdit.objects.filter(draft=draft).select_related("editor").order_by("id"):
        if edit.table_name in ROW_TYPE_OF:
            by_table[edit.table_name][to_key(edit.table_name, edit.row_pk)] = edit
    merged.has_edits = bool(by_table)
    for table, edits in by_table.items():
        live = contents(table, list(edits))
        for pk, edit in edits.items():
            before, wanted = (row and up_to_date(table, row) for row in (edit.before, edit.after))
            merge = RowMerge(before, live.get(pk), wanted)
            after = merge.merge_changes()
            if has_same_text(after, merge.now):
                continue  # The same change was made live meanwhile.
            if merge.has_conflict():
                merged.conflicts[table, pk] = merge
            merged.wanted.setdefault(table, {})[pk] = after
            merged.live.setdefault(table, {})[pk] = merge.now
            merged.edits[table, pk] = edit
    return merged


def store_edits(
    draft: CeDraft, changed: Mapping[str, Iterable[RowDifference]], editor: Any = None, reason: str = ""
) -> None:
    """Store changed rows of a draft, each with the live row that it is based on.

    A row that is as it is live loses its edit. `editor`: a user or a name. `reason`: of each edit. The numbers of new
    rows are never given to another row.
    """
    user: Any = editor if isinstance(editor, AbstractBaseUser) else None
    name = name_author(editor)
    by_table = {table: rows for table, differences in changed.items() if (rows := list(differences))}
    if by_table:
        note_editor(draft, name)
    for table, rows in by_table.items():
        same = [str(row.pk) for row in rows if has_same_text(row.after, row.before)]
        for pks in batches(same):
            draft.edits.filter(table_name=table, row_pk__in=pks).delete()
        CeDraftEdit.objects.bulk_create(
            [
                CeDraftEdit(
                    draft=draft,
                    table_name=table,
                    row_pk=str(row.pk),
                    before=row.before,
                    after=row.after,
                    editor=user,
                    editor_name=name,
                    edited_at=timezone.now(),
                    reason=reason,
                    content_hash=hash_of(canonical([row.before, row.after])),
                )
                for row in rows
                if not has_same_text(row.after, row.before)
            ],
            batch_size=BATCH,
            update_conflicts=True,
            unique_fields=["draft", "table_name", "row_pk"],
            update_fields=["before", "after", "editor", "editor_name", "edited_at", "reason", "content_hash"],
        )
        if added := [row.pk for row in rows if row.before is None and row.after is not None]:
            # The transaction that took these ids is rolled back. The counter of SQLite moves back with it; a sequence
            # of PostgreSQL does not, but imports choose ids without it.
            reserve_ids(table, max(added))


def hash_edits(draft: CeDraft) -> str:
    """The hash of all edits of a draft, and of where it moves conversations: an approval is for these."""
    edits = draft.edits.order_by("table_name", "row_pk").values_list("table_name", "row_pk", "content_hash")
    # Publishing adds the moves of renamed intents, from any state.
    moves = draft.moves.exclude(from_state=ANY).order_by("from_intent", "from_state")
    columns = moves.values_list("from_intent", "from_state", "to_intent", "to_state")
    return hash_of(canonical([list(entry) for entry in (*edits, *columns)]))


def note_editor(draft: CeDraft, name: str) -> None:
    """Remember who edited the draft, also when somebody else edits the same rows later."""
    if name and name not in draft.editors:
        draft.editors = [*draft.editors, name]
        draft.save(update_fields=["editors"])


def find_other_drafts(draft: CeDraft) -> dict[RowName, list[CeDraft]]:
    own = CeDraftEdit.objects.filter(
        draft=draft, table_name=models.OuterRef("table_name"), row_pk=models.OuterRef("row_pk")
    )
    others = CeDraftEdit.objects.filter(models.Exists(own), draft__status=DraftStatus.OPEN).exclude(draft=draft)
    by_row: dict[RowName, list[CeDraft]] = defaultdict(list)
    for edit in others.select_related("draft").defer("before", "after"):
        by_row[edit.table_name, to_key(edit.table_name, edit.row_pk)].append(edit.draft)
    return by_row
