"""Drafts by their title: what is stored becomes edits of the open draft of this title."""

from collections.abc import Iterator
from contextlib import contextmanager

from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.drafts.open_draft import open_draft
from config_admin.releases.changes import Author, name_author


def find_named_draft(title: str) -> CeDraft | None:
    return CeDraft.objects.filter(title=title, status=DraftStatus.OPEN).first()


def get_needed_right(title: str) -> str:
    """The right to change the open draft of this title, or to add one."""
    return f"config_admin.{'change' if find_named_draft(title) else 'add'}_cedraft"


@contextmanager
def open_named_draft(title: str, author: Author, reason: str, *, writing: bool) -> Iterator[None]:
    """The configuration of the draft, if one is named. A draft is made only if something is stored in it."""
    draft = find_named_draft(title)
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
