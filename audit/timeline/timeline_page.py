"""The timeline of a conversation: a chat with cards for turns, and its download as a scenario."""

import uuid
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from audit import addresses
from audit.access_log.write import log_access
from audit.export.scenario.document import build_passing_scenario, build_scenario, leave_out_rows, make_yaml_response
from audit.export.scenario.recorded_turns import NotExportable, read_recorded_turns
from audit.live.messages import END, StreamCursor
from audit.models import CeAccessLog
from audit.timeline.cards import WINDOW_SIZE, TurnWindow, build_items, find_turn_at, read_window
from convengine.engine.text.times import is_in_calendar
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import Lifecycle
from convengine.play.personal_data import describe_personal_data, leave_memory_out
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import badge_class
from convengine.server.deployment import conf
from convengine.server.gateway.environ import SERVES_STREAMS
from convengine.server.sessions.models import CeConversation

#: Maximum following sessions to name.
_NEXT = 5
_NO_NUMBER = "“{}” is not a turn number. Enter a whole number such as 3."
#: Expectations of saved turns that hold for one recording, and would break with most edits.
_RECORDED_ONLY = ("audit_stages_in_order", "llm_calls")


@page("<uuid:conversation_id>/timeline/", of="audit.CeAudit", right=VIEW, methods=["GET"], from_replica=True)
def show_timeline(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The newest turns; `before`, `after`, `turn` and `at` lead to others. The cost does not depend on the length."""
    log_access(request, CeAccessLog.Kind.CONVERSATION, conversation_id)
    conversation = CeConversation.objects.filter(pk=conversation_id).defer("context_json", "input_params_json").first()
    if conversation is None:
        raise Http404("This conversation does not exist.")
    window, wrong = _read_window(conversation_id, request)
    lifecycle = Lifecycle.read(conversation.lifecycle)
    has_stream = request.META.get(SERVES_STREAMS) or conf.get("STREAMS_URL")
    last = window.turns[-1].turn_no if window.turns else 0
    context = {
        **addresses.page_context(model_admin, request, "", conversation),
        "title": f"Timeline of {conversation_id}",
        "conversation": conversation,
        "lifecycle": lifecycle.label if lifecycle else conversation.lifecycle,
        "look": badge_class(conversation.lifecycle),
        "next_sessions": [
            (session.pk, session.created_at, addresses.timeline_url(session.pk))
            for session in conversation.next_sessions.order_by("created_at", "pk")[:_NEXT]
        ],
        "previous_url": conversation.previous_session_id and addresses.timeline_url(conversation.previous_session_id),
        "items": list(build_items(conversation_id, window)),
        "turns": window.turns,
        "older": window.older,
        "newer": window.newer,
        "wrong": wrong,
        "lease": conversation.lease_info if conversation.lease_token else None,
        "stream_url": reverse("stream", args=[conversation_id]) if has_stream else "",
        "live_after": StreamCursor(last, END if last else 0),
        "live_last": last,
    }
    return TemplateResponse(request, "audit/timeline.html", context)


def _read_window(conversation_id: uuid.UUID, request: HttpRequest) -> tuple[TurnWindow, str]:
    """The requested turns, and the errors of the request, with the newest turns."""
    given = {name: text for name in ("before", "after", "turn", "at") if (text := request.GET.get(name, "").strip())}
    for name, text in given.items():
        if name == "at":
            number, wrong = _find_turn_at(conversation_id, text)
        else:
            number, wrong = addresses.read_number(text), _NO_NUMBER.format(text[:40])
        if number is None:
            return read_window(conversation_id), wrong
        if name == "before":
            return read_window(conversation_id, number), ""
        if name == "after":
            return read_window(conversation_id, number + 1, 0), ""
        window = read_window(conversation_id, number, 1 if name == "at" else WINDOW_SIZE // 2)
        is_shown = any(turn.turn_no == number for turn in window.turns)
        return window, "" if is_shown else f"This conversation has no turn {number}."
    return read_window(conversation_id), ""


def _find_turn_at(conversation_id: uuid.UUID, text: str) -> tuple[int | None, str]:
    """The number of the first turn at or after a time, or why there is none."""
    at = _parse_time(text)
    if at is None:
        return None, f"“{text[:40]}” is not a date and time. Enter one such as 2026-01-31 12:00."
    turn_no = find_turn_at(conversation_id, at)
    return turn_no, "No turn started at or after that time. The newest turns are shown."


def _parse_time(text: str) -> datetime | None:
    try:
        moment = parse_datetime(text)
    except ValueError:
        return None
    if moment is None or not is_in_calendar(moment):
        return None
    return make_aware(moment) if is_naive(moment) else moment


def _offer_test(
    model_admin: Any, request: HttpRequest, conversation: CeConversation, document: dict[str, Any]
) -> HttpResponse:
    """Send the turns on to the editor of tests: without their configuration and their events."""
    portable = leave_out_rows(document, *_RECORDED_ONLY)
    scenario = {key: value for key, value in portable.items() if key not in ("id", "covers")}
    context = {
        **addresses.page_context(model_admin, request, "Make a test", conversation),
        "title": "Make a test",
        "timeline_url": addresses.timeline_url(conversation.pk),
        "scenario": dumps(scenario),
        "turns": scenario["turns"],
        "personal_data": describe_personal_data(scenario),
        "has_memory": leave_memory_out(scenario) != scenario,
        "test_url": reverse("admin:config_admin_cetestcase_add"),
    }
    return TemplateResponse(request, "audit/make_test.html", context)


@page("<uuid:conversation_id>/scenario/", of="audit.CeAudit", right=VIEW, methods=["GET"], from_replica=True)
def download_scenario(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The file, which was played and passed, or why it is impossible. `first` and `last` are numbers of turns."""
    conversation = CeConversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404("This conversation does not exist.")
    log_access(request, CeAccessLog.Kind.SCENARIO, conversation_id)
    try:
        first, last = (_read_turn_number(request, end) for end in ("first", "last"))
        if request.GET.get("as") == "test":
            turns = read_recorded_turns(conversation, first, last)
            return _offer_test(model_admin, request, conversation, build_scenario(conversation, turns, ""))
        document = build_passing_scenario(conversation, first, last)
    except NotExportable as refused:
        context = {
            **addresses.page_context(model_admin, request, "Save as a scenario file", conversation),
            "title": "Save as a scenario file",
            "wrong": str(refused),
            "timeline_url": addresses.timeline_url(conversation_id),
            "given": request.GET,
        }
        return TemplateResponse(request, "audit/save.html", context)
    return make_yaml_response(document)


def _read_turn_number(request: HttpRequest, end: str) -> int | None:
    given = request.GET.get(end, "").strip()
    if not given:
        return None
    if (number := addresses.read_number(given)) is None:
        raise NotExportable(_NO_NUMBER.format(given[:40]))
    return number
