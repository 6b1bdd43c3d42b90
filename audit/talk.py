"""The page on which somebody who edits the configuration talks to it, and sees why it answers so."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString

from audit.expand import expanded
from audit.queries import newest_turns, whole_turns
from audit.reasons import Reason, Told, reasons
from convengine import conf
from convengine.breadcrumbs import leads_by_conversation
from convengine.domain.turn import TurnRequest
from convengine.errors import ConvEngineError
from convengine.record_columns import row_link, spoken
from convengine.sessions.models import CeConversation, CeConversationHistory
from convengine.sessions.turns import take_turn

RIGHT = "ce_sessions.try_conversation"
TITLE = "Try a conversation"
#: How many turns the page shows; the page of the conversation has all.
SHOWN = 50


@dataclass(frozen=True)
class Line:
    """One decision of the last turn, with links to the rows."""

    subject: str
    won: list[SafeString]
    lost: list[tuple[SafeString, str]]


def talk(request: HttpRequest) -> HttpResponse:
    """What was said so far, and a line to say more. A message is a turn like any other: what runs, runs for real."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    conversation = _asked_for(request)
    error, said = "", ""
    if request.method == "POST":
        said = request.POST.get("message", "")
        conversation_id = conversation or uuid.uuid4()
        error = _say(conversation_id, said)
        if not error:
            return HttpResponseRedirect(f"{request.path}?conversation={conversation_id}#last")
    told = _told(conversation)
    if told.get("stands"):
        leads_by_conversation(request, told["stands"], page=TITLE)
    context = {
        **admin.site.each_context(request),
        "title": TITLE,
        "conversation": conversation,
        "error": error,
        "said": said,
        **told,
    }
    return TemplateResponse(request, "audit/talk.html", context)


def _asked_for(request: HttpRequest) -> uuid.UUID | None:
    """The conversation that goes on; null for a new one. One that is not stored begins anew under its id."""
    try:
        return uuid.UUID(request.GET.get("conversation", ""))
    except ValueError:
        return None


def _say(conversation_id: uuid.UUID, text: str) -> str:
    """Take a turn. A turn that failed is in the record; of an error that left none, what it says."""
    limit = conf.get("MAX_MESSAGE_BYTES")
    if not text.strip():
        return "The message is empty. Say something."
    if len(text.encode()) > limit:
        return f"The message is longer than {limit} bytes. Say less at once."
    try:
        take_turn(TurnRequest(str(conversation_id), text))
    except ConvEngineError as error:
        return f"{error.code}: {error.message}"
    return ""


def _told(conversation_id: uuid.UUID | None) -> dict[str, Any]:
    if conversation_id is None:
        return {"turns": []}
    numbers = newest_turns(conversation_id, None, SHOWN)
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__in=numbers)
    turns = list(found.defer("recording", "trace_graph").order_by("turn_no"))
    rows = CeConversation.objects.filter(pk=conversation_id)
    last = list(expanded(whole_turns(conversation_id, numbers[-1:]))) if numbers else []
    return {
        "turns": [(turn, spoken(turn.assistant_output)) for turn in turns],
        "why": [_line(reason) for reason in reasons(last)],
        "stands": rows.only("intent_code", "state_code", "remote_jid").first(),
        "new_url": reverse("admin:audit_ceaudit_talk"),
        "more": len(numbers) == SHOWN,
    }


def _line(reason: Reason) -> Line:
    return Line(reason.subject, [_link(row) for row in reason.won], [(_link(row), row.reason) for row in reason.lost])


def _link(row: Told) -> SafeString:
    return row_link(row.table, row.pk, row.about or f"{row.table.removeprefix('ce_').replace('_', ' ')} {row.pk}")
