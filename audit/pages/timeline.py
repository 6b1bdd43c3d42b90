"""The timeline of a conversation: the chat down the middle, everything around it, and each turn ready to be opened."""

import uuid
from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from audit.access.noting import noted
from audit.live.shown import shown
from audit.models import CeAccessLog
from audit.pages import addresses
from audit.pages.cards import Look, around, items, newest, turn_at
from convengine.domain.enums import Lifecycle
from convengine.record_columns import look_of
from convengine.sessions.models import CeConversation

#: How many sessions that follow one are named.
_NEXT = 5


def show(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The newest turns; `before`, `after`, `turn` and `at` lead to others. It costs the same at any length."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    noted(request, CeAccessLog.Kind.CONVERSATION, conversation_id)
    conversation = CeConversation.objects.filter(pk=conversation_id).defer("context_json", "input_params_json").first()
    if conversation is None:
        raise Http404("There is no such conversation.")
    look, wrong = _look(conversation_id, request)
    lifecycle = Lifecycle.read(conversation.lifecycle)
    context = {
        **addresses.placed(model_admin, request, "", conversation),
        "title": f"Timeline of {conversation_id}",
        "conversation": conversation,
        "lifecycle": lifecycle.label if lifecycle else conversation.lifecycle,
        "look": look_of(conversation.lifecycle),
        "next_sessions": [
            (one.pk, one.created_at, addresses.timeline_url(one.pk))
            for one in conversation.next_sessions.order_by("created_at", "pk")[:_NEXT]
        ],
        "previous_url": conversation.previous_session_id and addresses.timeline_url(conversation.previous_session_id),
        "items": list(items(conversation_id, look)),
        "turns": look.turns,
        "older": look.older,
        "newer": look.newer,
        "wrong": wrong,
        "compare_page": addresses.compare_page(),
        "lease": conversation.lease_info if conversation.lease_token else None,
        **shown(conversation_id, look.turns),
    }
    return TemplateResponse(request, "audit/timeline.html", context)


def _look(conversation_id: uuid.UUID, request: HttpRequest) -> tuple[Look, str]:
    """The turns that are asked for, and what is wrong with how they are; what cannot be read is passed over."""
    given = request.GET
    for name, read in (("before", _before), ("after", _after), ("turn", _turn)):
        if text := given.get(name, "").strip():
            if not (text.isascii() and text.isdecimal() and len(text) < 10):
                return newest(conversation_id), f"“{text[:40]}” is no number of a turn."
            return read(conversation_id, int(text))
    if text := given.get("at", "").strip():
        at = _moment(text)
        if at is None:
            return newest(conversation_id), f"“{text[:40]}” is no time, such as 2026-01-31 12:00."
        turn_no = turn_at(conversation_id, at)
        if turn_no is None:
            return newest(conversation_id), "No turn began at that time or later; these are the newest."
        return around(conversation_id, turn_no, 1), ""
    return newest(conversation_id), ""


def _before(conversation_id: uuid.UUID, number: int) -> tuple[Look, str]:
    return newest(conversation_id, number), ""


def _after(conversation_id: uuid.UUID, number: int) -> tuple[Look, str]:
    return around(conversation_id, number + 1, 0), ""


def _turn(conversation_id: uuid.UUID, number: int) -> tuple[Look, str]:
    found = around(conversation_id, number)
    there = any(turn.turn_no == number for turn in found.turns)
    return found, "" if there else f"There is no turn {number}."


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return make_aware(found) if found and is_naive(found) else found
