"""The page of a turn: the narration first, then steps, decisions, changes, prompts, tools, and all events.

The steps are a waterfall: start, duration and failures.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.safestring import SafeString

from audit import addresses
from audit.access_log.write import log_access
from audit.addresses import OF_A_TURN
from audit.models import CeAccessLog, CeMcpUserFeedback
from audit.narration import narrate_turn
from audit.narration.wording import excerpt_value
from audit.record.events import Event
from audit.record.trace import build_steps
from audit.timeline.cards import NOT_STORED, list_warnings, read_deliveries
from audit.timeline.explained_turn import (
    FAMILIES,
    TurnFilter,
    build_phrase_accounts,
    explain_events,
    find_release,
    has_compared_phrases,
)
from audit.timeline.read_turn import (
    TurnReading,
    find_teach_url,
    list_used_rows,
    list_word_links,
    read_model_calls,
    read_neighbours,
    read_turn,
)
from audit.timeline.session_changes import unsaved_changes
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_EXIT
from convengine.engine.rules.conditions.values import write_text
from convengine.engine.stages import family_of
from convengine.engine.steps.tools.stages import (
    MCP_DB_SQL_EXECUTION,
    MCP_TOOL_CALL,
    MCP_TOOL_ERROR,
    MCP_TOOL_RESULT,
    TOOL_ORCHESTRATION_ERROR,
    TOOL_ORCHESTRATION_REQUEST,
    TOOL_ORCHESTRATION_RESULT,
)
from convengine.engine.text.compare import shorten
from convengine.engine.turn.stage import find_stage, is_error
from convengine.json_value import Json
from convengine.server.admin_site.first_steps import TRY, WHY, note_step
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import answer_text, badge_class, release_link, render_json
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversationHistory, CeExtensionFault

_PARTS = {
    "details": "audit/turn_details.html",
    "account": "audit/turn_account.html",
}
_SEES_FAULTS = "ce_sessions.view_ceextensionfault"


@page(OF_A_TURN, of="audit.CeAudit", right=VIEW, name="turn", methods=["GET"], from_replica=True)
def show_turn(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The page; `?part=` gives the content of a timeline card (`details`), its sentences (`account`), or an `event`."""
    log_access(request, CeAccessLog.Kind.TURN, conversation_id, turn_no)
    reading = read_turn(conversation_id, turn_no)
    part = request.GET.get("part")
    note_step(request, WHY)
    if part == "account":
        # The page with the chat shows it after each answer.
        note_step(request, TRY)
    if part == "event":
        return TemplateResponse(request, "audit/event.html", {"opened": find_opened_event(reading.events, request)})
    if part == "words":
        return TemplateResponse(request, "audit/phrase_accounts.html", explain_phrases(reading, request))
    context = turn_details(reading, request)
    if part in _PARTS:
        return TemplateResponse(request, _PARTS[part], context)
    before, behind, release = read_neighbours(conversation_id, turn_no)
    turn_id = reading.record.turn_id
    sentences, snapshot = narrate_turn(reading.events), find_release(reading.events)
    context |= {
        "used_rows": list_used_rows(request, reading.record, sentences, snapshot),
        **addresses.page_context(model_admin, request, "", conversation_id, turn_no),
        **feedback_context(request, turn_id),
        "title": f"Turn {turn_no}",
        "delivery": read_deliveries(conversation_id, [turn_id]).get(turn_id),
        "timeline_url": addresses.timeline_url(conversation_id, turn_no),
        "before_url": before and addresses.turn_url(conversation_id, before),
        "behind_url": behind and addresses.turn_url(conversation_id, behind),
        "compare_url": before and addresses.compare_url(f"{conversation_id}.{before}", f"{conversation_id}.{turn_no}"),
        "between_url": before
        and release != reading.record.config_version
        and addresses.between_url(conversation_id, turn_no, before),
    }
    return TemplateResponse(request, "audit/turn.html", context)


def explain_phrases(reading: TurnReading, request: HttpRequest) -> dict[str, Any]:
    """How sure the classifier was of the intents of a turn, word by word."""
    snapshot = find_release(reading.events)
    return {
        "phrase_accounts": build_phrase_accounts(reading.events, snapshot) if snapshot else [],
        "teach_url": find_teach_url(request, reading.record),
    }


def turn_details(reading: TurnReading, request: HttpRequest) -> dict[str, Any]:
    record, events, turn_filter = reading.record, reading.events, TurnFilter.of(request)
    all_rows = request.GET.get("rows") == "all"
    find_url = partial(addresses.row_url, record.conversation_id, record.turn_no)
    why = explain_events(events, record.user_input, find_release(events), find_url, turn_filter, all_rows=all_rows)
    return {
        "record": record,
        "look": badge_class(record.status),
        "answer": answer_text(record.assistant_output),
        "release": release_link(record.config_version),
        "warnings": list(list_warnings(record, Counter(event.name for event in events))),
        "stored": record.status not in NOT_STORED,
        "erased": not events and record.conversation.is_erased,
        "why": why,
        "word_links": list_word_links(request, record, why.reading),
        "has_compared_phrases": has_compared_phrases(events),
        **(explain_phrases(reading, request) if "words" in request.GET else {}),
        "wanted": turn_filter,
        "families": FAMILIES,
        "bars": (bars := build_waterfall(events)),
        "has_failed_step": any(bar.status == "ERROR" for bar in bars),
        "all_rows": all_rows,
        "unsaved": unsaved_changes(events) if record.status in NOT_STORED else None,
        "calls": read_model_calls(reading),
        "tools": list(_tool_events(events)),
        "lines": list(build_lines(events, turn_filter)),
        "opened": find_opened_event(events, request),
        "faults": read_faults(record, request),
        "turn_url": addresses.turn_url(record.conversation_id, record.turn_no),
        "row_url": f"{addresses.row_url(record.conversation_id, record.turn_no, '', '').partition('?')[0]}",
    }


def read_faults(record: CeConversationHistory, request: HttpRequest) -> Iterable[CeExtensionFault]:
    """The exceptions of the deployment's own code in the turn, for people who may see tracebacks."""
    user: Any = request.user
    if not user.has_perm(_SEES_FAULTS):
        return ()
    faults = CeExtensionFault.objects.filter(conversation_id=record.conversation_id, turn_no=record.turn_no)
    return faults.order_by("id")


def _tool_events(events: Sequence[Event]) -> Iterable[tuple[Event, str]]:
    """The tool calls with their results, shortened."""
    for event in events:
        if event.name in _TOOL_STAGES:
            values = (event.payload[key] for key in _TOOL_SAYS if event.payload.get(key) is not None)
            yield event, excerpt_value(next(values, None))


_TOOL_SAYS = ("args", "result", "rows", "error", "sql")
_TOOL_STAGES = frozenset(
    {
        TOOL_ORCHESTRATION_REQUEST,
        TOOL_ORCHESTRATION_RESULT,
        TOOL_ORCHESTRATION_ERROR,
        MCP_TOOL_CALL,
        MCP_TOOL_RESULT,
        MCP_TOOL_ERROR,
        MCP_DB_SQL_EXECUTION,
    }
)


def feedback_context(request: Any, turn_id: Any) -> dict[str, Any]:
    """The feedback on a turn, the user's own, and whether the user may give some. One query."""
    if not request.user.has_perm("audit.view_cemcpuserfeedback"):
        return {"feedback": [], "may_rate": False, "sees_feedback": False}
    entries = read_rows(CeMcpUserFeedback.objects.filter(turn_id=turn_id, replaced_at=None).order_by("feedback_id"))
    me = f"user:{request.user.get_username()}"
    return {
        "feedback": entries,
        "mine": next((entry for entry in entries if entry.author == me), None),
        "may_rate": request.user.has_perm("audit.add_cemcpuserfeedback"),
        "sees_feedback": True,
    }


#: Starts and ends of steps are half of all events, and the waterfall shows them: only unusual ones have details.
_FRAME = frozenset({STEP_ENTER, STEP_EXIT})
#: Minimum width of a bar.
_MIN_WIDTH = 0.4


@dataclass(frozen=True)
class StepBar:
    step: str
    #: OK, ERROR, or RUNNING for one without an end.
    status: str
    #: Milliseconds; None if unknown.
    start_ms: float | None
    duration_ms: float | None
    #: Offset and width of the bar, as CSS.
    offset: str
    width: str
    error: str
    #: The number of its events, besides its start and end.
    events: int
    #: Why it had nothing to do. Blank for a step that was executed, or that does not say.
    idle: str = ""


def build_waterfall(events: Sequence[Event]) -> list[StepBar]:
    """The steps in order, with exact times where the turn came to its end; those without an end come last."""
    timing = next((event.payload for event in events if event.name == PIPELINE_TIMING), {})
    listed = timing.get("stepList")
    timed = [step for step in listed if isinstance(step, Mapping)] if isinstance(listed, list) else []
    untimed = build_steps(events)
    counts = Counter(event.step for event in events if event.name not in _FRAME)
    whole = max([float(timing.get("wallMs") or 0), *(sum(_read_times(step)) for step in timed), 0.01])
    bars = [_build_bar(step, _take_error(untimed, str(step.get("step"))), whole, counts) for step in timed]
    return bars + [
        StepBar(
            step["step"], step["status"], None, step["durationMs"], "0", "0", step["error"] or "", counts[step["step"]]
        )
        for step in untimed
    ]


def _take_error(steps: list[dict[str, Any]], name: str) -> str:
    step = next((step for step in steps if step["step"] == name), None)
    if step is None:
        return ""
    steps.remove(step)
    return step["error"] or ""


def _build_bar(step: Mapping[str, Any], error: str, whole: float, counts: Mapping[str | None, int]) -> StepBar:
    name, (start, took) = str(step.get("step")), _read_times(step)
    width = max(100 * took / whole, _MIN_WIDTH)
    offset, status = min(100 * start / whole, 100 - width), "OK" if step.get("success", True) else "ERROR"
    idle = str(step.get("notNeeded", ""))
    return StepBar(name, status, start, took, f"{offset:.2f}%", f"{width:.2f}%", error, counts[name], idle)


def _read_times(step: Mapping[str, Json]) -> tuple[float, float]:
    """When a step began, and how long it took."""
    return float(step.get("startedAtMs") or 0), float(step.get("durationMs") or 0)


_SHOWN = 140
_META = "_meta"
_USUAL_VALUES: Mapping[str, Any] = {"outcome": "Continue", "durationMs": 0}


@dataclass(frozen=True)
class EventLine:
    seq: int
    at_ms: int
    step: str
    stage: str
    help: str
    says: str
    is_error: bool
    family: str


def build_lines(events: Sequence[Event], turn_filter: TurnFilter) -> Iterator[EventLine]:
    """The wanted events, in order."""
    start = events[0].row.created_at if events else None
    for event in events:
        family = family_of(event.row.stage)
        payload = {key: value for key, value in event.payload.items() if key != _META}
        text = write_text(payload) if payload else ""
        if start is not None and turn_filter.admits(family, event.row.stage, event.step or "", text):
            yield EventLine(
                event.row.seq,
                round((event.row.created_at - start).total_seconds() * 1000),
                event.step or "",
                event.row.stage,
                find_stage(event.name).help if family else "",
                shorten(_write_unusual_values(payload) if event.name in _FRAME else text, _SHOWN),
                is_error(event.row.stage),
                family,
            )


def _write_unusual_values(payload: Mapping[str, Any]) -> str:
    """The details of a start or an end of a step; blank for a usual one."""
    details = {key: value for key, value in payload.items() if key in _USUAL_VALUES and value != _USUAL_VALUES[key]}
    return write_text(details) if details else ""


def find_opened_event(events: Sequence[Event], request: HttpRequest) -> tuple[int, SafeString] | None:
    """The number and the content of the event of `?event=`. Returns None if there is none."""
    event = next((event for event in events if str(event.row.seq) == request.GET.get("event")), None)
    return (event.row.seq, render_json(event.payload)) if event else None
