"""The comparison page of two turns or two conversations."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access_log.write import log_access
from audit.models import CeAccessLog
from audit.replay.comparison import align, compare_events, turn_key
from audit.timeline import addresses
from audit.timeline.read_turn import TurnReading, read_turn
from audit.timeline.turn_page import sentence_texts
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.labels import code_label
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import answer_text, badge_class, release_link
from convengine.server.sessions.models import CeConversation, CeConversationHistory

#: A conversation's id, or a turn: the id, a point, and the number.
_PICK = re.compile(r"^([0-9a-fA-F-]{32,36})(?:\.(\d{1,9}))?$")
#: Turns of two conversations per page.
_TURNS_PER_PAGE = 100
#: The compared values of two turns, with their labels.
_COMPARED = {
    "user_text": "message",
    "answered": "answer",
    "stands": "intent and state",
    "status": "status",
    "release": "release",
}


class Selection(NamedTuple):
    """One side: a turn, or without a number a conversation."""

    conversation_id: uuid.UUID
    turn_no: int | None

    def __str__(self) -> str:
        return f"{self.conversation_id}.{self.turn_no}" if self.turn_no else str(self.conversation_id)


class TurnPair(NamedTuple):
    """A turn of each conversation, or of one."""

    left: Any
    right: Any
    differs: Sequence[str]
    url: str


@dataclass(frozen=True)
class TurnSummary:
    """The summary of one of two turns."""

    record: Any
    look: str
    answer: str
    release: Any
    url: str
    account: Sequence[str]


@page("compare/", of="audit.CeAudit", right=VIEW, methods=["GET"], from_replica=True)
def show_comparison(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Two turns or two conversations from `pick`; without two of them, a form."""
    given = [text.strip() for text in request.GET.getlist("pick") if text.strip()]
    picked = [parsed for text in given if (parsed := _parse_selection(text))]
    wrong = _find_fault(given, picked)
    context: dict[str, Any] = {
        **addresses.page_context(model_admin, request, "Compare", None if wrong else _common_conversation(picked)),
        "title": "Compare",
        "given": [*given, "", ""][: max(2, min(len(given), 2))],
        "wrong": wrong,
        "all": request.GET.get("all") == "1",
    }
    if not wrong and picked:
        left, right = picked
        for selection in dict.fromkeys(picked):
            log_access(request, CeAccessLog.Kind.COMPARE, selection.conversation_id, selection.turn_no)
        context |= _compare_turns(left, right) if left.turn_no else _compare_conversations(left, right, request)
        context["other_way_url"] = addresses.compare_url(str(right), str(left))
        context["here_url"] = addresses.compare_url(str(left), str(right))
    return TemplateResponse(request, "audit/compare.html", context)


def _common_conversation(picked: Sequence[Selection]) -> uuid.UUID | None:
    """The conversation of both sides; null if there are two, or nothing was picked."""
    conversations = {selection.conversation_id for selection in picked}
    return conversations.pop() if len(conversations) == 1 else None


def _parse_selection(text: str) -> Selection | None:
    match = _PICK.match(text)
    try:
        return Selection(uuid.UUID(match[1]), int(match[2]) if match[2] else None) if match else None
    except ValueError:
        return None


def _find_fault(given: Sequence[str], picked: Sequence[Selection]) -> str:
    """Why there is nothing to compare, or blank."""
    if not given:
        return ""
    if len(picked) < len(given):
        return (
            "Not a turn or a conversation. Enter a conversation ID, for a turn followed by a full stop and its number."
        )
    if len(picked) == 1:
        return "Choose a second turn or conversation to compare with."
    if len(picked) != 2:
        return f"Select two turns; {len(picked)} are selected."
    if (picked[0].turn_no is None) != (picked[1].turn_no is None):
        return "Select two turns or two conversations, not one of each."
    gone = [str(selection) for selection in picked if not _exists(selection)]
    return f"{gone[0]} does not exist or was removed." if gone else ""


def _exists(selection: Selection) -> bool:
    if selection.turn_no is None:
        return CeConversation.objects.filter(pk=selection.conversation_id).exists()
    return CeConversationHistory.objects.filter(
        conversation_id=selection.conversation_id, turn_no=selection.turn_no
    ).exists()


def _compare_turns(left: Selection, right: Selection) -> dict[str, Any]:
    readings = [read_turn(selection.conversation_id, selection.turn_no or 0) for selection in (left, right)]
    steps = compare_events(readings[0].events, readings[1].events)
    first, second = (reading.record for reading in readings)
    same = first.conversation_id == second.conversation_id
    return {
        "sides": [_summarise_turn(reading) for reading in readings],
        "steps": steps,
        "differing": sum(step.differs for step in steps),
        "between_url": addresses.between_url(first.conversation_id, second.turn_no, first.turn_no) if same else "",
    }


def _summarise_turn(reading: TurnReading) -> TurnSummary:
    record = reading.record
    return TurnSummary(
        record,
        badge_class(record.status),
        answer_text(record.assistant_output),
        release_link(record.config_version),
        addresses.turn_url(record.conversation_id, record.turn_no),
        sentence_texts(reading),
    )


def _compare_conversations(left: Selection, right: Selection, request: HttpRequest) -> dict[str, Any]:
    """Their turns, aligned by the user's messages; a page begins after the numbers of `behind`."""
    numbers = [addresses.read_number(text) or 0 for text in request.GET.getlist("behind")]
    starts = [*numbers, 0, 0][:2]
    turn_lists = [_read_turns(selection, start) for selection, start in zip((left, right), starts, strict=True)]
    shown = [turns[:_TURNS_PER_PAGE] for turns in turn_lists]
    keys = [[turn_key(turn.user_input) for turn in turns] for turns in shown]
    pairs = [_pair_turns(*pair) for pair in align(*shown, *keys, by_place=True)]
    more = any(len(turns) > _TURNS_PER_PAGE for turns in turn_lists)
    ends = [turns[-1].turn_no if turns else start for turns, start in zip(shown, starts, strict=True)]
    return {
        "conversations": [
            (selection.conversation_id, addresses.timeline_url(selection.conversation_id))
            for selection in (left, right)
        ],
        "pairs": pairs,
        "differing": sum(bool(pair.differs) for pair in pairs),
        "more": "".join(f"&behind={end}" for end in ends) if more else "",
    }


def _read_turns(selection: Selection, behind: int) -> list[Any]:
    turns = CeConversationHistory.objects.filter(conversation_id=selection.conversation_id, turn_no__gt=behind)
    return list(turns.defer("facts").order_by("turn_no")[: _TURNS_PER_PAGE + 1])


def _pair_turns(left: Any, right: Any) -> TurnPair:
    if left is None or right is None:
        return TurnPair(_turn_line(left), _turn_line(right), ["exists on one side only"], "")
    ours, theirs = _turn_line(left), _turn_line(right)
    differs = [label for name, label in _COMPARED.items() if ours[name] != theirs[name]]
    picks = [f"{turn.conversation_id}.{turn.turn_no}" for turn in (left, right)]
    return TurnPair(ours, theirs, differs, addresses.compare_url(*picks))


def _turn_line(turn: Any) -> dict[str, Any]:
    if turn is None:
        return {}
    return {
        "turn_no": turn.turn_no,
        "url": addresses.turn_url(turn.conversation_id, turn.turn_no),
        "user_text": shorten_line(turn.user_input, 200),
        "answered": shorten_line(answer_text(turn.assistant_output), 300) if not turn.error_code else turn.error_code,
        "stands": f"{code_label(turn.intent_code)} / {code_label(turn.state_code)}",
        "status": turn.get_status_display(),
        "look": badge_class(turn.status),
        "release": turn.config_version,
    }
