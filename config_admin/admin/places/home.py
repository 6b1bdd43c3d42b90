"""The first page of the admin: what needs attention, what people changed, what was talked about, and where to go."""

from itertools import islice
from typing import Any

from django.http import HttpRequest

from config_admin.admin.desk import desk_of
from config_admin.admin.places.attention import concerns
from config_admin.admin.places.marks import desk_rows
from config_admin.models import CeRelease
from config_admin.releases.models import Origin
from convengine.sessions.models import CeConversation, CeConversationHistory

NEWEST = 8
#: How many of the newest turns are looked at for failed ones: a bound, so that the page costs the same for ever.
LATEST_TURNS = 200
CONCERNS = 12


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the page shows beside the places of the sidebar; each part for whoever may see what it links to."""
    may = request.user.has_perm
    if may("config_admin.view_cerule"):
        # First: what was written past the application has its release from here on.
        snapshot = desk_of(request).snapshot
        found = list(islice(concerns(snapshot), CONCERNS + 1))
        context["desk"] = desk_rows(request.user, snapshot, NEWEST)
        context |= {"in_force": snapshot.config_version, "concerns": found[:CONCERNS], "more": len(found) > CONCERNS}
    if may("config_admin.view_cerelease"):
        by_people = CeRelease.objects.exclude(origin=Origin.MIGRATION).defer("manifest")
        context["releases"] = list(by_people.order_by("-config_version")[:NEWEST])
    if may("ce_sessions.view_ceconversation"):
        context["conversations"] = list(CeConversation.objects.order_by("-updated_at", "-conversation_id")[:NEWEST])
    if may("ce_sessions.view_ceconversationhistory"):
        context |= {"latest_turns": LATEST_TURNS, "failed": _failed()}
    return context


def _failed() -> list[CeConversationHistory]:
    newest = CeConversationHistory.objects.order_by("-history_id").only("status", "turn_no", "error_code", "created_at")
    return [turn for turn in newest[:LATEST_TURNS] if turn.status == "FAILED"][:NEWEST]
