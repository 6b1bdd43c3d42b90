"""The pages that run turns again: one with every difference, or all of a conversation in a list."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.models import CeAccessLog
from audit.pages import addresses
from audit.runs import MOST, Outcome, outcome, today
from convengine.record_columns import look_of, release_link, spoken
from convengine.sessions.models import CeConversationHistory


def turn(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """One turn beside itself, on its own release or on the one that is named."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    record = _turns(conversation_id).filter(turn_no=turn_no).first()
    if record is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    noted(request, CeAccessLog.Kind.REPLAY, conversation_id, turn_no)
    found, context = _run(record, request)
    context |= {
        **addresses.placed(model_admin, request, "Again", conversation_id, turn_no),
        "title": f"Turn {turn_no} again",
        "record": record,
        "found": found,
        "answers": _answers(found),
        "look": look_of(record.status),
        "all": request.GET.get("all") == "1",
        "turn_url": addresses.turn_url(conversation_id, turn_no),
        "conversation_url": addresses.replay_url(conversation_id),
    }
    return TemplateResponse(request, "audit/replay.html", context)


def conversation(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Turns of a conversation, each run again; some at a time."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    noted(request, CeAccessLog.Kind.REPLAY, conversation_id)
    behind = request.GET.get("behind", "")
    start = int(behind) if behind.isascii() and behind.isdecimal() and len(behind) < 10 else 0
    records = list(_turns(conversation_id).filter(turn_no__gt=start).order_by("turn_no")[: MOST + 1])
    lines, context = [], _asked(request)
    for record in records[:MOST]:
        found, told = _run(record, request)
        context["wrong"] = context["wrong"] or told["wrong"]
        if found:
            address = addresses.replay_url(conversation_id, record.turn_no)
            lines.append((found, f"{address}?release={context['asked']}" if context["asked"] else address))
    context |= {
        **addresses.placed(model_admin, request, "Again", conversation_id),
        "title": "The conversation again",
        "lines": lines,
        "equal": sum(found.equal for found, _ in lines),
        "more": records[MOST - 1].turn_no if len(records) > MOST else None,
        "timeline_url": addresses.timeline_url(conversation_id),
        "conversation_id": conversation_id,
    }
    return TemplateResponse(request, "audit/replays.html", context)


def _turns(conversation_id: uuid.UUID) -> Any:
    return CeConversationHistory.objects.filter(conversation_id=conversation_id).defer("trace_graph")


def _asked(request: HttpRequest) -> dict[str, Any]:
    """The release that is asked for; blank for each turn's own."""
    text = request.GET.get("release", "").strip()
    readable = not text or (text.isascii() and text.isdecimal() and len(text) < 10)
    wrong = "" if readable else f"“{text[:40]}” is no number of a release."
    return {"asked": text if readable else "", "today": today(), "wrong": wrong}


def _run(record: CeConversationHistory, request: HttpRequest) -> tuple[Outcome | None, dict[str, Any]]:
    context = _asked(request)
    if context["wrong"]:
        return None, context
    try:
        found = outcome(record, int(context["asked"]) if context["asked"] else None)
    except LookupError as error:
        return None, context | {"wrong": str(error)}
    return found, context | {"release": release_link(found.config_version)}


def _answers(found: Outcome | None) -> tuple[str, str] | None:
    """What was answered then and now, where that differs."""
    if found is None or found.run is None or found.run.answers[0] == found.run.answers[1]:
        return None
    then, now = found.run.answers
    return spoken(then) or str(then or "no answer"), spoken(now) or str(now or "no answer")
