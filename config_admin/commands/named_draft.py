"""The option `--draft TITLE` of commands: what they store becomes edits of the open draft of this title."""

from collections.abc import Iterator
from contextlib import contextmanager

from config_admin.commands.authors import require_rights
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.changes import Author, name_author


@contextmanager
def open_named_draft(title: str, author: Author, reason: str, *, writing: bool) -> Iterator[None]:
    """The configuration of the draft, if one is named. A draft is made only if something is stored in it."""
    named = CeDraft.objects.filter(title=title, status=DraftStatus.OPEN)
    draft = named.first()
    if title:
        require_rights(author, f"config_admin.{'change' if draft else 'add'}_cedraft")
    is_new = bool(title and writing and draft is None)
    if is_new:
        draft = CeDraft.objects.create(title=title, created_by=name_author(author))
    if draft is None:
        yield
        return
    try:
        with open_draft(draft.pk, author, reason, writing=writing, decides=False):
            yield
    finally:
        if is_new and not draft.edits.exists():
            draft.delete()
