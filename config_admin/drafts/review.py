"""The review of a draft: sent to others, commented, approved or returned; every entry is kept."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Q

from config_admin.drafts.edits import RowName, hash_edits
from config_admin.drafts.models import CeDraft, CeDraftReview, DraftStatus, ReviewKind
from config_admin.drafts.open_draft import DraftEnded
from config_admin.releases.changes import name_author
from convengine.engine.text.wording import join_names
from convengine.server.deployment import conf
from convengine.server.jobs.background import background

REVIEW = "config_admin.review_draft"
_VERDICTS = (ReviewKind.APPROVED, ReviewKind.RETURNED)


class ReviewRefused(ValueError):
    """The entry cannot be made; the message says why."""


def send_for_review(
    draft_id: int, author: Any, reviewers: Iterable[str] = (), group: str = "", text: str = "", url: str = ""
) -> CeDraftReview:
    """Ask users or a group to review a draft. Raises DraftEnded and ReviewRefused.

    `url`: the address of the draft for the mail to the reviewers.
    """
    names = list(dict.fromkeys(reviewers))
    if not names and not group:
        raise ReviewRefused("Choose at least one reviewer, or a group.")
    known = {user.get_username() for user in list_reviewers()}
    if unknown := [name for name in names if name not in known]:
        raise ReviewRefused(f"These users cannot review drafts: {', '.join(unknown)}.")
    if group and not Group.objects.filter(name=group).exists():
        raise ReviewRefused(f"There is no group {group}.")
    with transaction.atomic():
        draft = lock_draft(draft_id)
        if not draft.edits.exists():
            raise ReviewRefused("The draft has no changes yet, so there is nothing to review.")
        if editors := [name for name in names if name in draft.editors]:
            raise ReviewRefused(f"These users edited the draft, so only others can review it: {', '.join(editors)}.")
        entry = add_entry(draft, ReviewKind.SENT, author, text, reviewers=names, reviewer_group=group)
        lines = [f"{entry.author_name} asks you to review the draft “{draft.title}”.", text]
        send_mail_about(draft, f"Review “{draft.title}”", lines, names, group=group, url=url)
    return entry


def add_comment(draft_id: int, author: Any, text: str, row: RowName | None = None, url: str = "") -> CeDraftReview:
    """Comment on a draft, or on one of its rows. Raises DraftEnded and ReviewRefused.

    `url`: the address of the draft for the mail to its owner.
    """
    if not text.strip():
        raise ReviewRefused("Write a comment first.")
    with transaction.atomic():
        draft = lock_draft(draft_id)
        table, pk = row or ("", "")
        if row and not draft.edits.filter(table_name=table, row_pk=str(pk)).exists():
            raise ReviewRefused("This row is not in the draft any more.")
        entry = add_entry(draft, ReviewKind.COMMENT, author, text, table_name=table, row_pk=str(pk))
        _tell_owner(draft, entry, "commented on", url)
    return entry


def judge_draft(
    draft_id: int, author: Any, kind: ReviewKind, text: str = "", edits_hash: str = "", url: str = ""
) -> CeDraftReview:
    """Approve or return a draft. Raises DraftEnded and ReviewRefused.

    `edits_hash`: the edits that the reviewer saw; blank compares nothing. `url`: the address of the draft for the mail
    to its owner.
    """
    with transaction.atomic():
        draft = lock_draft(draft_id)
        name = name_author(author)
        if edits_hash and edits_hash != hash_edits(draft):
            raise ReviewRefused("The draft changed meanwhile. Look at the changes again.")
        if kind == ReviewKind.APPROVED and (obstacle := find_approval_obstacle(draft, name)):
            raise ReviewRefused(obstacle)
        if kind == ReviewKind.RETURNED and not text.strip():
            raise ReviewRefused("Say in a comment what should change.")
        entry = add_entry(draft, kind, author, text)
        _tell_owner(draft, entry, str(kind.label).lower(), url)
    return entry


def find_approval_obstacle(draft: CeDraft, reviewer: str) -> str:
    """Why this user cannot approve the draft; empty if they can."""
    if reviewer in draft.editors:
        return "You edited this draft, so only somebody else can approve it."
    if not draft.edits.exists():
        return "The draft has no changes yet, so there is nothing to approve."
    if not draft.reviews.filter(kind=ReviewKind.SENT).exists():
        return "The draft was not sent for review yet. Its author sends it when it is ready."
    return ""


def add_entry(draft: CeDraft, kind: ReviewKind, author: Any, text: str = "", **values: Any) -> CeDraftReview:
    """Store an entry, for the edits as they are now."""
    return CeDraftReview.objects.create(
        draft=draft,
        kind=kind,
        author_name=name_author(author),
        text=text.strip(),
        edits_hash=hash_edits(draft),
        **values,
    )


def list_approvers(draft: CeDraft, edits_hash: str) -> list[str]:
    """Who approved exactly these edits, and did not edit the draft or return it since."""
    verdicts = _read_verdicts(draft, edits_hash)
    return [name for name, kind in verdicts.items() if kind == ReviewKind.APPROVED and name not in draft.editors]


def list_open_returns(draft: CeDraft, edits_hash: str) -> list[str]:
    """Who returned exactly these edits, since the draft was last sent."""
    sent = draft.reviews.filter(kind=ReviewKind.SENT).order_by("-id").values_list("id", flat=True).first() or 0
    verdicts = _read_verdicts(draft, edits_hash, after=sent)
    return [name for name, kind in verdicts.items() if kind == ReviewKind.RETURNED]


def describe_review(draft: CeDraft, edits_hash: str) -> str:
    """How the review of exactly these edits stands: approved, asked for, or missing."""
    if approvers := list_approvers(draft, edits_hash):
        return f"Approved by {join_names(approvers)}."
    sent = draft.reviews.filter(kind=ReviewKind.SENT).order_by("-id").first()
    if sent is None:
        return "Nobody was asked to review this draft."
    reviewers = join_names([*sent.reviewers, *([f"the group {sent.reviewer_group}"] if sent.reviewer_group else [])])
    return f"{sent.author_name} asked {reviewers} for a review, and nobody has approved these edits yet."


def has_void_approval(draft: CeDraft, edits_hash: str) -> bool:
    """True if somebody approved other edits than these."""
    return draft.reviews.filter(kind=ReviewKind.APPROVED).exclude(edits_hash=edits_hash).exists()


def list_waiting_drafts(user: Any) -> list[CeDraft]:
    """The open drafts that were sent to this user, who has neither approved nor returned them since."""
    name = user.get_username()
    entries = CeDraftReview.objects.filter(kind=ReviewKind.SENT, draft__status=DraftStatus.OPEN)
    newest = {entry.draft_id: entry for entry in entries.select_related("draft").order_by("id")}
    groups = set(user.groups.values_list("name", flat=True)) if newest else set()
    return [
        entry.draft
        for entry in newest.values()
        if (name in entry.reviewers or entry.reviewer_group in groups)
        and name not in entry.draft.editors
        and not _has_answered(entry, name)
    ]


def _has_answered(sent: CeDraftReview, name: str) -> bool:
    edits_hash = hash_edits(sent.draft)
    verdicts = _read_verdicts(sent.draft, edits_hash)
    is_approved = verdicts.get(name) == ReviewKind.APPROVED
    return is_approved or name in _read_verdicts(sent.draft, edits_hash, after=sent.pk)


def list_reviewers() -> Sequence[Any]:
    """The active users who may review drafts."""
    users: Any = get_user_model()
    app, codename = REVIEW.split(".")
    right = Permission.objects.filter(content_type__app_label=app, codename=codename)
    may = Q(is_superuser=True) | Q(user_permissions__in=right) | Q(groups__permissions__in=right)
    return list(users.objects.filter(may, is_active=True, is_staff=True).order_by(users.USERNAME_FIELD).distinct())


def lock_draft(draft_id: int) -> CeDraft:
    """The open draft, locked until the transaction ends. Raises DraftEnded."""
    draft = CeDraft.objects.select_for_update().filter(pk=draft_id, status=DraftStatus.OPEN).first()
    if draft is None:
        raise DraftEnded(draft_id)
    return draft


def _read_verdicts(draft: CeDraft, edits_hash: str, after: int = 0) -> dict[str, str]:
    """The last verdict of each reviewer about exactly these edits."""
    entries = draft.reviews.filter(kind__in=_VERDICTS, edits_hash=edits_hash, id__gt=after).order_by("id")
    return {entry.author_name: entry.kind for entry in entries}


def _tell_owner(draft: CeDraft, entry: CeDraftReview, what: str, url: str) -> None:
    others = [name for name in [draft.created_by, *draft.editors] if name and name != entry.author_name]
    lines = [f"{entry.author_name} {what} the draft “{draft.title}”.", entry.text]
    send_mail_about(draft, f"Draft “{draft.title}”: {what}", lines, dict.fromkeys(others), url=url)


def send_mail_about(
    draft: CeDraft, subject: str, lines: Iterable[str], names: Iterable[str], *, group: str = "", url: str = ""
) -> None:
    """Write to these users and the members of `group`, when the transaction is done. A failure is in the log.

    Only active users with an address get a mail, and nobody does without NOTIFICATION_FROM. `url`: the address of the
    draft; if it is blank, the mail says where to find it.
    """
    sender = conf.get("NOTIFICATION_FROM")
    if not sender:
        return
    users = get_user_model()
    wanted = Q(**{f"{users.USERNAME_FIELD}__in": list(names)})
    if group:
        wanted |= Q(groups__name=group)
    active = users._default_manager.filter(wanted, is_active=True)
    addresses = sorted({str(getattr(user, "email", "")) for user in active} - {""})
    text = "\n\n".join(filter(None, [*lines, url or "Open it in the admin: Releases › Drafts."]))
    for address in addresses:
        # One for each, so that nobody reads the addresses of the others.
        mail = EmailMessage(" ".join(subject.split()), text, sender, [address])
        transaction.on_commit(partial(background.submit, partial(_send, mail)))


def _send(mail: EmailMessage) -> None:
    mail.send()
