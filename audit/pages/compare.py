"""The page that puts two turns, or two conversations, side by side."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.account import account
from audit.models import CeAccessLog
from audit.pages import addresses
from audit.pages.comparing import aligned, compared, turn_key
from audit.pages.reading import LARGE, Reading, read_turn
from convengine.record_columns import look_of, release_link, shortened, spoken
from convengine.sessions.models import CeConversation, CeConversationHistory

#: A conversation by its id, or a turn: the id, a point, and the number.
_PICK = re.compile(r"^([0-9a-fA-F-]{32,36})(?:\.(\d{1,9}))?$")
#: How many turns of two conversations one look shows.
_TURNS = 100


class Picked(NamedTuple):
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
class Side:
    """What is told of one of two turns above their steps."""

    record: Any
    look: str
    answer: str
    release: Any
    url: str
    account: Sequence[str]


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """Two turns or two conversations, by `pick`; without two of them, where to say which."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    given = [text.strip() for text in request.GET.getlist("pick") if text.strip()]
    picked = [found for text in given if (found := _picked(text))]
    wrong = _wrong(given, picked)
    context: dict[str, Any] = {
        **addresses.placed(model_admin, request, "Compare", None if wrong else _common(picked)),
        "title": "Compare",
        "given": [*given, "", ""][: max(2, min(len(given), 2))],
        "wrong": wrong,
        "all": request.GET.get("all") == "1",
    }
    if not wrong and picked:
        left, right = picked
        for one in dict.fromkeys(picked):
            noted(request, CeAccessLog.Kind.COMPARE, one.conversation_id, one.turn_no)
        context |= _turns(left, right) if left.turn_no else _conversations(left, right, request)
        context["other_way_url"] = addresses.compare_url(str(right), str(left))
        context["here_url"] = addresses.compare_url(str(left), str(right))
    return TemplateResponse(request, "audit/compare.html", context)


def _common(picked: Sequence[Picked]) -> uuid.UUID | None:
    """The conversation of both sides; null where there are two, or nothing was picked."""
    found = {one.conversation_id for one in picked}
    return found.pop() if len(found) == 1 else None


def _picked(text: str) -> Picked | None:
    match = _PICK.match(text)
    try:
        return Picked(uuid.UUID(match[1]), int(match[2]) if match[2] else None) if match else None
    except ValueError:
        return None


def _wrong(given: Sequence[str], picked: Sequence[Picked]) -> str:
    """Why there is nothing to compare; blank where there is, or nothing was asked for."""
    if not given:
        return ""
    if len(picked) < len(given):
        return "That is no turn and no conversation: a turn is the id of its conversation, a point, and its number."
    if len(picked) == 1:
        return "Say with which other one."
    if len(picked) != 2:
        return f"Pick two; {len(picked)} were picked."
    if (picked[0].turn_no is None) != (picked[1].turn_no is None):
        return "Pick two turns, or two conversations."
    gone = [str(one) for one in picked if not _is_there(one)]
    return f"{gone[0]} is not there." if gone else ""


def _is_there(one: Picked) -> bool:
    if one.turn_no is None:
        return CeConversation.objects.filter(pk=one.conversation_id).exists()
    return CeConversationHistory.objects.filter(conversation_id=one.conversation_id, turn_no=one.turn_no).exists()


def _turns(left: Picked, right: Picked) -> dict[str, Any]:
    readings = [read_turn(one.conversation_id, one.turn_no or 0) for one in (left, right)]
    steps = compared(readings[0].events, readings[1].events)
    first, second = (reading.record for reading in readings)
    same = first.conversation_id == second.conversation_id
    return {
        "sides": [_side(reading) for reading in readings],
        "steps": steps,
        "differing": sum(step.differs for step in steps),
        "between_url": addresses.between_url(first.conversation_id, second.turn_no, first.turn_no) if same else "",
    }


def _side(reading: Reading) -> Side:
    record = reading.record
    return Side(
        record,
        look_of(record.status),
        spoken(record.assistant_output),
        release_link(record.config_version),
        addresses.turn_url(record.conversation_id, record.turn_no),
        [sentence.text for sentence in account(reading.events)],
    )


def _conversations(left: Picked, right: Picked, request: HttpRequest) -> dict[str, Any]:
    """Their turns, aligned by what the user said; a look begins behind the numbers that `behind` names."""
    numbers = [int(text) if text.isdecimal() and len(text) < 10 else 0 for text in request.GET.getlist("behind")]
    starts = [*numbers, 0, 0][:2]
    found = [_of(one, start) for one, start in zip((left, right), starts, strict=True)]
    shown = [turns[:_TURNS] for turns in found]
    keys = [[turn_key(turn.user_input) for turn in turns] for turns in shown]
    pairs = [_turn_pair(*pair) for pair in aligned(*shown, *keys, by_place=True)]
    more = any(len(turns) > _TURNS for turns in found)
    ends = [turns[-1].turn_no if turns else start for turns, start in zip(shown, starts, strict=True)]
    return {
        "conversations": [(one.conversation_id, addresses.timeline_url(one.conversation_id)) for one in (left, right)],
        "pairs": pairs,
        "differing": sum(bool(pair.differs) for pair in pairs),
        "more": "".join(f"&behind={end}" for end in ends) if more else "",
    }


def _of(one: Picked, behind: int) -> list[Any]:
    found = CeConversationHistory.objects.filter(conversation_id=one.conversation_id, turn_no__gt=behind)
    return list(found.defer(*LARGE, "facts", "request_meta").order_by("turn_no")[: _TURNS + 1])


def _turn_pair(left: Any, right: Any) -> TurnPair:
    if left is None or right is None:
        return TurnPair(_line(left), _line(right), ["only on one side"], "")
    ours, theirs = _line(left), _line(right)
    differs = [name for name in ("said", "answered", "stands", "status", "release") if ours[name] != theirs[name]]
    picks = [f"{one.conversation_id}.{one.turn_no}" for one in (left, right)]
    return TurnPair(ours, theirs, differs, addresses.compare_url(*picks))


def _line(turn: Any) -> dict[str, Any]:
    if turn is None:
        return {}
    return {
        "turn_no": turn.turn_no,
        "url": addresses.turn_url(turn.conversation_id, turn.turn_no),
        "said": shortened(turn.user_input, 200),
        "answered": shortened(spoken(turn.assistant_output), 300) if not turn.error_code else turn.error_code,
        "stands": f"{turn.intent_code} / {turn.state_code}",
        "status": turn.get_status_display(),
        "look": look_of(turn.status),
        "release": turn.config_version,
    }
