"""The replay pages: one turn on its own release with every difference, or a list of all turns of a conversation."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access_log.write import log_access
from audit.models import CeAccessLog
from audit.replay.replay import MAX_TURNS, replay_turn
from audit.timeline import addresses
from audit.timeline.addresses import OF_A_TURN
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import answer_text, badge_class
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversationHistory


@page(f"{OF_A_TURN}replay/", of="audit.CeAudit", right=VIEW, name="replay", methods=["GET"], from_replica=True)
def show_turn_replay(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """One turn beside its replay."""
    record = next(iter(read_rows(_select_turns(conversation_id).filter(turn_no=turn_no)[:1])), None)
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    log_access(request, CeAccessLog.Kind.REPLAY, conversation_id, turn_no)
    outcome = replay_turn(record)
    differ = outcome.turn is not None and outcome.answers[0] != outcome.answers[1]
    context = {
        **addresses.page_context(model_admin, request, "Replay", conversation_id, turn_no),
        "title": f"Replay of turn {turn_no}",
        "record": record,
        "outcome": outcome,
        "answers": [answer_text(each) or str(each or "no answer") for each in outcome.answers] if differ else [],
        "look": badge_class(record.status),
        "all": request.GET.get("all") == "1",
        "turn_url": addresses.turn_url(conversation_id, turn_no),
        "conversation_id": conversation_id,
    }
    return TemplateResponse(request, "audit/replay.html", context)


@page(
    "<uuid:conversation_id>/replay/", of="audit.CeAudit", right=VIEW, name="replays", methods=["GET"], from_replica=True
)
def show_conversation_replay(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Turns of a conversation, each replayed; in pages."""
    log_access(request, CeAccessLog.Kind.REPLAY, conversation_id)
    start = addresses.read_number(request.GET.get("behind", "")) or 0
    records = read_rows(_select_turns(conversation_id).filter(turn_no__gt=start).order_by("turn_no")[: MAX_TURNS + 1])
    outcomes = [replay_turn(record) for record in records[:MAX_TURNS]]
    context = {
        **addresses.page_context(model_admin, request, "Replay", conversation_id),
        "title": "Replay of the conversation",
        "outcomes": outcomes,
        "equal": sum(outcome.is_equal for outcome in outcomes),
        "more": records[MAX_TURNS - 1].turn_no if len(records) > MAX_TURNS else None,
        "timeline_url": addresses.timeline_url(conversation_id),
        "conversation_id": conversation_id,
    }
    return TemplateResponse(request, "audit/replays.html", context)


def _select_turns(conversation_id: uuid.UUID) -> Any:
    return CeConversationHistory.objects.filter(conversation_id=conversation_id).defer(None)
