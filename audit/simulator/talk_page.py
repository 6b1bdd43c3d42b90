"""The page *Real conversation*: a user of the admin writes in a stored conversation."""

import uuid
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.record.events import expand_events
from audit.record.queries import newest_turn_numbers, read_turns
from audit.simulator.posted import find_message_problem
from audit.timeline.explained_turn import explain_events, find_release
from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.turn import TurnRequest
from convengine.server.admin_site.breadcrumbs import Crumb, set_breadcrumbs, set_conversation_breadcrumbs
from convengine.server.admin_site.first_steps import TRY, note_step
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import answer_text, row_url
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn

RIGHT = "ce_sessions.take_real_turns"
TITLE = "Real conversation"
#: How many turns the page shows; the page of the conversation has all.
MAX_TURNS = 50


@page("talk/", of="audit.CeAudit")
def talk_page(request: HttpRequest) -> HttpResponse:
    """The conversation so far, and an input. A message is a real turn with all its effects.

    A script that asks for the page gets the conversation alone, also after a message.
    """
    require_right(request, RIGHT)
    conversation = _read_conversation_id(request)
    is_part = request.headers.get("X-Requested-With") == "fetch"
    error, message = "", ""
    if request.method == "POST":
        message = request.POST.get("message", "")
        conversation_id = conversation or uuid.uuid4()
        error = _take_turn(conversation_id, message)
        if not error:
            note_step(request, TRY)
        if not error and not is_part:
            return HttpResponseRedirect(f"{_talk_url(conversation_id)}#last")
        # A failed turn is in the record, too.
        turns = CeConversationHistory.objects.filter(conversation_id=conversation_id)
        conversation = conversation_id if not error or turns.exists() else conversation
        message = message if error else ""
    context = {
        "title": TITLE,
        "conversation": conversation,
        "talk_url": _talk_url(conversation),
        "new_url": _talk_url(None),
        "error": error,
        "message": message,
        **_conversation_context(conversation),
    }
    if is_part:
        return TemplateResponse(request, "audit/talk_parts.html", context)
    held: Any = request
    held.ce_place = reverse("admin:ce_sessions_ceconversation_changelist")
    if context.get("stands"):
        set_conversation_breadcrumbs(request, context["stands"], page=TITLE)
    else:
        set_breadcrumbs(request, Crumb(TITLE))
    return TemplateResponse(request, "audit/talk.html", {**admin.site.each_context(request), **context})


def _talk_url(conversation_id: uuid.UUID | None) -> str:
    url = reverse("admin:audit_ceaudit_talk")
    return f"{url}?conversation={conversation_id}" if conversation_id else url


def _read_conversation_id(request: HttpRequest) -> uuid.UUID | None:
    """The current conversation. Returns None for a new one. One that is not stored begins again with its id."""
    try:
        return uuid.UUID(request.GET.get("conversation", ""))
    except ValueError:
        return None


def _take_turn(conversation_id: uuid.UUID, text: str) -> str:
    """Take a turn. A failed turn is in the record; for an error without a turn, return its message."""
    if problem := find_message_problem(text):
        return problem
    try:
        take_turn(TurnRequest(str(conversation_id), text))
    except ConvEngineError as error:
        return f"{error.code}: {error.message}"
    return ""


def _conversation_context(conversation_id: uuid.UUID | None) -> dict[str, Any]:
    if conversation_id is None:
        return {"turns": []}
    numbers = newest_turn_numbers(conversation_id, None, MAX_TURNS)
    records = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=numbers)
    turns = list(records.order_by("turn_no"))
    rows = CeConversation.objects.filter(pk=conversation_id)
    last = list(expand_events(read_turns(conversation_id, numbers[-1:]))) if numbers else []
    message = turns[-1].user_input if turns else None
    return {
        "turns": [(turn, answer_text(turn.assistant_output)) for turn in turns],
        "why": explain_events(last, message, find_release(last), row_url) if last else None,
        "stands": rows.only("intent_code", "state_code", "remote_jid").first(),
        "more": len(numbers) == MAX_TURNS,
    }
