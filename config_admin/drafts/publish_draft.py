"""End a draft: publish it as one release, or discard it. `edits` finds conflicts with what became live meanwhile."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from config_admin.drafts.conditions import Publication, PublicationRefused, judge_draft_gate, list_problems
from config_admin.drafts.edits import DraftConflict, MergedEdits, hash_edits, merge_edits
from config_admin.drafts.models import CeDraft, DraftStatus, ReviewKind, ScheduleStatus
from config_admin.drafts.review import add_entry, list_approvers, lock_draft
from config_admin.releases.audience import AudienceSpec, start_gradual_release
from config_admin.releases.change_set import change_set
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.restore_rows import restore_rows


class DraftMoved(ValueError):
    """The draft or the live configuration is not what the publisher saw."""

    def __init__(self) -> None:
        super().__init__("The draft or the live configuration changed meanwhile. Review the changes again.")


class DraftEmpty(ValueError):
    """There is nothing to publish; the message says why."""


def publish_draft(
    draft_id: int,
    publisher: Any = None,
    reason: str = "",
    seen: MergedEdits | None = None,
    audience: AudienceSpec | None = None,
    override: str = "",
) -> CeRelease:
    """Make one release of all edits, each with its editor as the author of the row's history.

    `seen`: what the publisher saw and may change. `audience`: who gets the release; None for all. `override`: why it
    is published although tests of the gate did not pass. Raises DraftEnded, DraftConflict, DraftEmpty, DraftMoved,
    AudienceInvalid; PublicationRefused when a condition is not met; RestoreRefused and RowsBelongTogether when rows do
    not fit.
    """
    with transaction.atomic():
        release, draft = _make_release(draft_id, publisher, reason, seen, override)
        draft.moves.update(config_version=release.pk)
        draft.sources.update(config_version=release.pk)
        CeDraft.objects.filter(pk=draft.pk).update(config_version=release.pk)
        if audience:
            start_gradual_release(release, audience, release.author)
    return release


def _make_release(
    draft_id: int, publisher: Any, reason: str, seen: MergedEdits | None, override: str
) -> tuple[CeRelease, CeDraft]:
    """Publish a draft as one release, and end it; returns both.

    `seen`: the changes that the user confirmed; None compares nothing. `override`: why the tests of the gate are
    ignored. Raises DraftMoved, DraftConflict, DraftEmpty, PublicationRefused, and what `restore_rows` raises.
    """
    with change_set(Origin.DRAFT, publisher) as change:
        draft = lock_draft(draft_id)
        merged = merge_edits(draft)
        if seen and merged.differences != seen.differences:
            raise DraftMoved
        if merged.conflicts:
            raise DraftConflict(list(merged.conflicts))
        if emptiness := merged.explain_emptiness():
            raise DraftEmpty(emptiness)
        if problems := list_problems(Publication(draft, merged, publisher, override)):
            raise PublicationRefused(problems)
        approvers = list_approvers(draft, hash_edits(draft))
        change.reason = _describe_release(draft, reason, approvers, override)
        change.editors = {name: edit.editor_id for name, edit in merged.edits.items() if edit.editor_id}
        restore_rows(merged.wanted)
        add_entry(draft, ReviewKind.PUBLISHED, publisher, reason)
        end_draft(draft, DraftStatus.PUBLISHED)
    assert change.release is not None
    return change.release, draft


def discard_draft(draft_id: int) -> None:
    """End a draft without a release; its edits stay readable. Raises DraftEnded."""
    with transaction.atomic():
        end_draft(lock_draft(draft_id), DraftStatus.DISCARDED)


def end_draft(draft: CeDraft, status: DraftStatus) -> None:
    draft.status, draft.ended_at = status, timezone.now()
    draft.save(update_fields=["status", "ended_at"])
    draft.schedules.filter(status=ScheduleStatus.WAITING).update(status=ScheduleStatus.CANCELLED)


def _describe_release(draft: CeDraft, reason: str, approvers: list[str], override: str) -> str:
    """The reason of the release, with those who approved it, and with why tests of the gate did not count.

    The seal covers it.
    """
    text = f"{draft.title}: {reason}" if reason and reason != draft.title else draft.title
    text += f" (approved by {', '.join(approvers)})" if approvers else ""
    gate = judge_draft_gate(draft)
    if not override or gate.is_open:
        return text
    return f"{text} (gate overridden, {gate.passed} of {gate.total} tests passed: {override})"
