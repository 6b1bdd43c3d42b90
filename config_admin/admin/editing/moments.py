"""What a row is tried against: a text that somebody types, or a moment of a stored turn."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Never

from django.utils import formats, timezone

from convengine import conf, wiring
from convengine.domain.recording import Playback
from convengine.domain.scope import ANY, UNKNOWN
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.trail import AuditEvent, Trail
from convengine.domain.turn import Turn, TurnRequest
from convengine.record_columns import shortened
from convengine.sessions.clock import TurnClock
from convengine.sessions.models import CeConversationHistory

#: How many of the newest turns are looked through, and how many of them are offered.
LOOKED_AT, OFFERED = 300, 40
#: Whoever may see turns may try rows against them.
RIGHT = "ce_sessions.view_ceconversationhistory"


class Choice(NamedTuple):
    """A stored turn to choose."""

    value: str
    label: str


@dataclass(frozen=True)
class Moment:
    """The session at one moment of a turn; a typed text makes a turn that consists of that moment."""

    session: Session
    turn: Turn
    #: What the moment is, where it is not the one that was asked for.
    note: str = ""
    #: True for a moment of a stored turn.
    is_stored: bool = False


class _NoConversation:
    """The conversation of a typed text: there is none."""

    def load(self) -> Never:
        """Nothing is stored."""
        raise LookupError("A typed text belongs to no conversation.")

    def store(self) -> None:
        """Nothing is written."""


def typed(text: str, snapshot: Snapshot, intent: str | None, state: str | None) -> Moment:
    """A first message, in a conversation that is where the row applies."""
    params = {"dialogue_act": code(text)}
    where = (UNKNOWN if code(one) in ("", ANY) else code(one) for one in (intent, state))
    session = Session("try", 1, user_text=text, intent=next(where), state=next(where), input_params=params)
    clock = TurnClock(timezone.now())
    ports = wiring.ports(clock, _NoConversation(), Playback([]), snapshot)
    return Moment(session, Turn("try", 1, TurnRequest("try", text), snapshot, ports, Trail(clock.elapsed_ms)))


def stored(turn_id: str, *, phase: str | None = None, step: str | None = None) -> Moment:
    """A stored turn as it stood when a phase of rules, or a step, began. Raises ValueError when it cannot be told."""
    record = CeConversationHistory.objects.filter(turn_id=uuid.UUID(turn_id)).first()
    if record is None:
        raise ValueError("This turn is not stored any more.")
    turn: Turn = conf.load("RERUN")(record)
    found = next(_wanted(turn, phase, step), None)
    if found is not None:
        return Moment(found.session, turn, is_stored=True)
    what = f"The rules of phase {phase} were not looked at" if phase else f"{step} did not run"
    note = f"{what} in this turn: these are the facts at its end." if phase or step else ""
    return Moment(turn.trail.events[-1].session, turn, note, is_stored=True)


def _wanted(turn: Turn, phase: str | None, step: str | None) -> Iterator[AuditEvent]:
    for event in turn.trail.events:
        begins = event.stage == Stage.STEP_ENTER and event.step == step
        if event.payload.get("rulePhase") == phase if phase else begins:
            yield event


def recent(intent: str) -> list[Choice]:
    """The newest turns that can be chosen, those of the intent first; one query."""
    found = CeConversationHistory.objects.filter(recording__isnull=False, replayable=True).order_by("-history_id")
    rows = list(found.values_list("turn_id", "user_input", "intent_code", "state_code", "created_at")[:LOOKED_AT])
    rows.sort(key=lambda row: code(row[2]) != code(intent))
    return [
        Choice(str(turn_id), f"“{shortened(text, 60)}” · {own} / {state} · {_when(made)}")
        for turn_id, text, own, state, made in rows[:OFFERED]
    ]


def _when(moment: datetime) -> str:
    return formats.date_format(timezone.localtime(moment), "DATETIME_FORMAT")
