"""The review on the page of a draft: send, comment, approve, return."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import Group
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect

from config_admin.drafts.conditions import Publication, count_needed_approvals, list_problems
from config_admin.drafts.edits import MergedEdits, hash_edits
from config_admin.drafts.models import CeDraft, DraftStatus, ReviewKind, ScheduleStatus
from config_admin.drafts.open_draft import DraftEnded
from config_admin.drafts.review import (
    REVIEW,
    ReviewRefused,
    add_comment,
    find_approval_obstacle,
    has_void_approval,
    judge_draft,
    list_approvers,
    list_reviewers,
    send_for_review,
)
from config_admin.drafts.schedule import find_loss, find_obstacle, find_schedule
from config_admin.editing.links import draft_url
from config_admin.validation.labels import row_name
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.rights import describe_groups_with

_VERDICTS = {"approve": ReviewKind.APPROVED, "return": ReviewKind.RETURNED}
_BADGES = {
    ReviewKind.APPROVED: "ce-how-added",
    ReviewKind.PUBLISHED: "ce-how-added",
    ReviewKind.RETURNED: "ce-how-removed",
    ReviewKind.NOT_PUBLISHED: "ce-how-removed",
    ReviewKind.NOT_TAKEN_BACK: "ce-how-removed",
    ReviewKind.SENT: "ce-how-changed",
    ReviewKind.SCHEDULED: "ce-how-changed",
}


#: How many of those who can approve a draft are named.
_NAMED = 5
#: Equals no hash; a blank one would compare nothing.
_NO_HASH = "-"


def build_review(request: HttpRequest, draft: CeDraft, merged: MergedEdits) -> dict[str, Any]:
    """What the page says about the review, and what this user may do."""
    user: Any = request.user
    is_open, edits_hash = draft.status == DraftStatus.OPEN, hash_edits(draft)
    may_review = user.has_perm(REVIEW)
    may_send = is_open and user.has_perm("config_admin.change_cedraft")
    schedule = find_schedule(draft)
    return {
        "schedule": schedule,
        "loss": find_loss(schedule) if schedule and schedule.status == ScheduleStatus.PUBLISHED else "",
        "obstacle": find_obstacle(schedule, merged) if schedule and schedule.status == ScheduleStatus.WAITING else "",
        "entries": [_describe_entry(entry, edits_hash) for entry in draft.reviews.order_by("id")],
        "edits_hash": edits_hash,
        "needed": count_needed_approvals(),
        "approvers": list_approvers(draft, edits_hash),
        "is_void": is_open and has_void_approval(draft, edits_hash),
        # Who sees the tests reads there how the gate stands.
        "problems": list_problems(
            Publication(draft, merged, user), with_gate=not user.has_perm("config_admin.view_cetestcase")
        )
        if is_open and merged.wanted
        else [],
        "may_comment": is_open and may_review,
        "may_judge": is_open and may_review and bool(merged.edits),
        "approval_obstacle": find_approval_obstacle(draft, user.get_username()),
        "who_approves": _describe_who_approves(draft, user),
        "may_send": may_send and bool(merged.edits),
        "reviewers": _list_others(draft, user) if may_send else [],
        "groups": list(Group.objects.order_by("name").values_list("name", flat=True)) if may_send else [],
    }


def _describe_who_approves(draft: CeDraft, user: Any) -> str:
    """Who else can approve the draft, at most `_NAMED` by name.

    Blank for a user who can, and for a draft that has ended.
    """
    if draft.status != DraftStatus.OPEN or (user.has_perm(REVIEW) and user.get_username() not in draft.editors):
        return ""
    names = [each.get_full_name() or each.get_username() for each in _list_others(draft, user)]
    if not names:
        return f"Nobody else can approve it yet: {describe_groups_with(REVIEW)}."
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return f"{', '.join([*names[:_NAMED], *more])} can approve it."


def _list_others(draft: CeDraft, user: Any) -> list[Any]:
    """The reviewers who may approve the draft, without the user who asks."""
    return [each for each in list_reviewers() if each.pk != user.pk and each.get_username() not in draft.editors]


def _describe_entry(entry: Any, edits_hash: str) -> dict[str, Any]:
    """An entry of the review as the page shows it. An approval of other changes than `edits_hash` is void."""
    is_void = entry.kind == ReviewKind.APPROVED and entry.edits_hash != edits_hash
    reviewers = [*entry.reviewers, *([f"the group {entry.reviewer_group}"] if entry.reviewer_group else [])]
    return {
        "entry": entry,
        "badge": _BADGES.get(entry.kind, ""),
        "is_void": is_void,
        "row": row_name(entry.table_name, entry.row_pk) if entry.table_name else "",
        "key": (entry.table_name, entry.row_pk),
        "to": ", ".join(reviewers),
    }


@page("<int:draft_id>/send/", of="config_admin.CeDraft")
def send_view(request: HttpRequest, draft_id: int) -> HttpResponse:
    return _act(
        request,
        draft_id,
        "config_admin.change_cedraft",
        lambda text, url: send_for_review(
            draft_id, request.user, request.POST.getlist("reviewer"), request.POST.get("group", ""), text, url
        ),
        "The draft is sent for review.",
    )


@page("<int:draft_id>/review/", of="config_admin.CeDraft")
def review_view(request: HttpRequest, draft_id: int) -> HttpResponse:
    """Comment on the draft or one of its rows, approve it or return it."""
    what = request.POST.get("do", "")
    if kind := _VERDICTS.get(what):
        seen = request.POST.get("edits_hash") or _NO_HASH
        return _act(
            request,
            draft_id,
            REVIEW,
            lambda text, url: judge_draft(draft_id, request.user, kind, text, seen, url),
            "You approved the draft." if what == "approve" else "You returned the draft.",
        )
    table, pk = request.POST.get("table", ""), request.POST.get("row", "")
    row = (table, pk) if table else None
    return _act(
        request,
        draft_id,
        REVIEW,
        lambda text, url: add_comment(draft_id, request.user, text, row, url),
        "Your comment is added.",
    )


def _act(
    request: HttpRequest, draft_id: int, right: str, make: Callable[[str, str], object], success: str
) -> HttpResponse:
    """Answer a post with one act of the review, and return to the draft with a message.

    `make` gets the text of the user and the address of the draft. Raises Http404 if the draft has ended.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    require_right(request, right)
    url = draft_url(draft_id)
    try:
        make(request.POST.get("text", ""), request.build_absolute_uri(url))
    except DraftEnded:
        raise Http404("This draft does not exist, or has ended.") from None
    except ReviewRefused as refused:
        messages.error(request, str(refused))
    else:
        messages.success(request, success)
    return HttpResponseRedirect(f"{url}#review")
