"""The first page of the admin: what needs attention, recent changes and recent conversations."""

from itertools import islice
from typing import Any

from django.http import HttpRequest

from config_admin.editing.context import get_editor_context
from config_admin.releases.models import CeRelease, Origin
from config_admin.workplace.attention import concerns
from config_admin.workplace.favourites import find_saved_rows
from convengine.server.sessions.models import CeConversation, CeConversationHistory

NEWEST = 8
#: How many of the newest turns are searched for failed ones, so that the cost of the page is constant.
LATEST_TURNS = 200
CONCERNS = 12


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The content of the page; each part only for users who may see what it links to."""
    may = request.user.has_perm
    if may("config_admin.view_cerule"):
        # First, because writes outside of the application get their release here.
        snapshot = get_editor_context(request).snapshot
        found = list(islice(concerns(snapshot), CONCERNS + 1))
        context["desk"] = find_saved_rows(request.user, snapshot, NEWEST)
        context |= {"in_force": snapshot.config_version, "concerns": found[:CONCERNS], "more": len(found) > CONCERNS}
    if may("config_admin.view_cerelease"):
        by_people = CeRelease.objects.exclude(origin=Origin.MIGRATION).defer("manifest")
        context["releases"] = list(by_people.order_by("-config_version")[:NEWEST])
    if may("ce_sessions.view_ceconversation"):
        context["conversations"] = list(CeConversation.objects.order_by("-updated_at", "-conversation_id")[:NEWEST])
    if may("ce_sessions.view_ceconversationhistory"):
        context |= {"latest_turns": LATEST_TURNS, "failed": _list_failed_turns()}
    return context


def _list_failed_turns() -> list[CeConversationHistory]:
    newest = CeConversationHistory.objects.order_by("-history_id").only("status", "turn_no", "error_code", "created_at")
    return [turn for turn in newest[:LATEST_TURNS] if turn.status == "FAILED"][:NEWEST]
