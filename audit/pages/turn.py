"""The page of a turn: the account first, then steps, decisions, changes, prompts, tools, and every event."""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.account import Fact, Sentence, account
from audit.expand import Event
from audit.feedback.shown import shown
from audit.models import CeAccessLog
from audit.pages import addresses
from audit.pages.changes import Change, OfStep, by_step, changes, lasting, short
from audit.pages.decided import ALL, SHOWN, Decision, decided
from audit.pages.events import lines, opened
from audit.pages.progress import progress
from audit.pages.reading import Reading, model_calls, neighbours, read_turn
from audit.pages.steps import waterfall
from audit.pages.wanted import FAMILIES, Wanted
from audit.pages.warned import warnings
from audit.stage_names import family_of
from convengine.domain.enums import TurnStatus
from convengine.domain.stages import Stage
from convengine.record_columns import look_of, release_link, spoken

#: Of a turn that ended so nothing was stored but its record.
NOT_STORED = (TurnStatus.FAILED.value, TurnStatus.INTERRUPTED.value)


@dataclass(frozen=True)
class Piece:
    """A part of a sentence on the page: words, or a fact with where it leads."""

    text: str
    url: str = ""
    is_name: bool = False


@dataclass(frozen=True)
class Told:
    """A sentence on the page."""

    tone: str
    family: str
    pieces: Sequence[Piece]
    seqs: Sequence[int]


def show(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The page; `?part=details` gives only what a card of the timeline opens to, `?part=event` one event."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    noted(request, CeAccessLog.Kind.TURN, conversation_id, turn_no)
    reading = read_turn(conversation_id, turn_no)
    part = request.GET.get("part")
    if part == "event":
        return TemplateResponse(request, "audit/event.html", {"opened": opened(reading.events, request)})
    context = details(reading, request)
    if part == "details":
        return TemplateResponse(request, "audit/turn_details.html", context)
    before, behind, release = neighbours(conversation_id, turn_no)
    context |= {
        **addresses.placed(model_admin, request, "", conversation_id, turn_no),
        **shown(request, reading.record.turn_id),
        "title": f"Turn {turn_no}",
        "timeline_url": addresses.timeline_url(conversation_id, turn_no),
        "before_url": before and addresses.turn_url(conversation_id, before),
        "behind_url": behind and addresses.turn_url(conversation_id, behind),
        "compare_url": before and addresses.compare_url(f"{conversation_id}.{before}", f"{conversation_id}.{turn_no}"),
        "between_url": before
        and release != reading.record.config_version
        and addresses.between_url(conversation_id, turn_no, before),
    }
    return TemplateResponse(request, "audit/turn.html", context)


def details(reading: Reading, request: HttpRequest) -> dict[str, Any]:
    """Everything about a turn that the page, and a card that is opened, show."""
    record, events, wanted = reading.record, reading.events, Wanted.of(request)
    all_rows = request.GET.get("rows") == "all"
    return {
        "record": record,
        "look": look_of(record.status),
        "answer": spoken(record.assistant_output),
        "release": release_link(record.config_version),
        "warnings": list(warnings(record, Counter(event.name for event in events))),
        "stored": record.status not in NOT_STORED,
        "account": list(_told(record, account(events), wanted)),
        "wanted": wanted,
        "families": FAMILIES,
        "bars": waterfall(events),
        "decisions": _decisions(decided(events, ALL if all_rows else SHOWN), wanted, all_rows),
        "all_rows": all_rows,
        "changes": by_step(change for change in changes(events) if _change_fits(change, events, wanted)),
        "lost": _lost(reading),
        "calls": model_calls(reading),
        "tools": list(_tools(events)),
        "progress": progress(record) if request.GET.get("progress") else None,
        "lines": list(lines(events, wanted)),
        "opened": opened(events, request),
        "turn_url": addresses.turn_url(record.conversation_id, record.turn_no),
        "row_url": f"{addresses.row_url(record.conversation_id, record.turn_no, '', '').partition('?')[0]}",
    }


def _told(record: Any, sentences: Iterable[Sentence], wanted: Wanted) -> Iterable[Told]:
    for sentence in sentences:
        if wanted.admits(sentence.family, sentence.text, sentence.kind):
            pieces = [
                Piece(part) if isinstance(part, str) else Piece(part.text, _row_url(record, part), _is_name(part))
                for part in sentence.parts
            ]
            yield Told(sentence.tone.value, sentence.family, pieces, sentence.seqs)


def _is_name(fact: Fact) -> bool:
    """True for what an event names; false for words that a code of it is told with."""
    return fact.row is not None or not isinstance(fact.value, str) or fact.value in fact.text


def _row_url(record: Any, fact: Fact) -> str:
    if fact.row is None or fact.column:
        return ""
    return addresses.row_url(record.conversation_id, record.turn_no, fact.row.table, fact.row.pk)


def _decisions(found: Sequence[Decision], wanted: Wanted, all_rows: bool) -> dict[str, Any]:
    """Those in which something won or was tested, or all; of the others only what they were about."""
    fitting = [one for one in found if wanted.admits(one.family, one.title, *(row.row.about for row in one.won))]
    return {
        "shown": [one for one in fitting if all_rows or one.won or one.tested],
        "empty": list(dict.fromkeys(one.title for one in fitting if not (all_rows or one.won or one.tested))),
    }


def _change_fits(change: Change, events: Sequence[Event], wanted: Wanted) -> bool:
    if not wanted:
        return True
    event = next(event for event in events if event.row.seq == change.seq)
    return wanted.admits(family_of(event.row.stage), change.place, change.step, change.before_short, change.after_short)


def _lost(reading: Reading) -> OfStep | None:
    return lasting(reading.events) if reading.record.status in NOT_STORED else None


def _tools(events: Sequence[Event]) -> Iterable[tuple[Event, str]]:
    """What tools were asked and gave, each with the beginning of what it says."""
    for event in events:
        if event.name in _TOOL_STAGES:
            said = (event.payload[key] for key in _TOOL_SAYS if event.payload.get(key) is not None)
            yield event, short(next(said, None))


_TOOL_SAYS = ("args", "result", "rows", "error", "sql")
_TOOL_STAGES = frozenset(
    {
        Stage.TOOL_ORCHESTRATION_REQUEST,
        Stage.TOOL_ORCHESTRATION_RESULT,
        Stage.TOOL_ORCHESTRATION_ERROR,
        Stage.MCP_TOOL_CALL,
        Stage.MCP_TOOL_RESULT,
        Stage.MCP_TOOL_ERROR,
        Stage.MCP_DB_SQL_EXECUTION,
    }
)
