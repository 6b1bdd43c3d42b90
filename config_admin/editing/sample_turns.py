"""What a row is tried on: a typed text, or a moment of a stored turn."""

import uuid
from dataclasses import dataclass
from typing import NamedTuple, Never

from django.utils import formats, timezone

from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.turn.local_time import get_local_time
from convengine.engine.turn.recording import Playback
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json
from convengine.server import wiring
from convengine.server.database.sql import TurnClock
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.sessions.models import CeConversationHistory

_PARAM = "params."
#: How many of the newest turns are examined, and how many of them are offered.
LOOKED_AT, OFFERED = 300, 40


class SampleChoice(NamedTuple):
    """A stored turn to choose."""

    value: str
    label: str


@dataclass(frozen=True)
class SampleTurn:
    """The session at one moment of a turn; a typed text makes such a turn."""

    session: Session
    turn: Turn
    #: A description of the moment, if it is not the requested one.
    note: str = ""
    #: True for a moment of a stored turn.
    is_stored: bool = False


class _NoConversation:
    """The conversations port of a typed text."""

    def load(self) -> Never:
        raise LookupError("A text entered here does not belong to a conversation.")

    def store(self) -> None:
        """Nothing is written."""


def sample_typed_message(
    text: str, snapshot: Snapshot, intent: str | None, state: str | None, values: str = ""
) -> SampleTurn:
    """A first message, in a conversation in the row's scope. `values`: `name=value; params.name=value`."""
    typed = read_values(values)
    params = {
        "dialogue_act": code(text),
        **{name.removeprefix(_PARAM): value for name, value in typed.items() if name.startswith(_PARAM)},
    }
    where = (UNKNOWN if code(value) in ("", ANY) else code(value) for value in (intent, state))
    clock = TurnClock(timezone.now())
    ports = wiring.ports(clock, _NoConversation(), Playback([]), snapshot, finder_kinds=())
    turn = Turn("try", 1, TurnRequest("try", text), snapshot, ports, Trail(clock.elapsed_ms))
    session = Session(
        "try",
        1,
        now=get_local_time(turn),
        user_text=text,
        intent=next(where),
        state=next(where),
        context={name: value for name, value in typed.items() if not name.startswith(_PARAM)},
    ).with_params(params)
    return SampleTurn(session, turn)


def read_values(text: str) -> dict[str, Json]:
    """Typed values, one per line or separated by semicolons. What is valid JSON is read as JSON, the rest as a text."""
    values: dict[str, Json] = {}
    for part in text.replace("\n", ";").split(";"):
        name, sign, value = part.partition("=")
        if sign and name.strip():
            try:
                values[name.strip()] = read_json(value)
            except Unreadable:
                values[name.strip()] = value.strip()
    return values


def load_stored_turn(turn_id: str, *, phase: str | None = None, step: str | None = None) -> SampleTurn:
    """A stored turn at the start of a phase of rules or of a step; at its end, with a note, if it had none.

    Raises ValueError when the turn is not stored any more or cannot be computed.
    """
    record = CeConversationHistory.objects.filter(turn_id=uuid.UUID(turn_id)).first()
    if record is None:
        raise ValueError("This turn is no longer stored.")
    turn = turn_reader().rebuild_turn(record)
    begun = (
        event
        for event in turn.trail.events
        if (event.payload.get("rulePhase") == phase if phase else event.stage == STEP_ENTER and event.step == step)
    )
    event = next(begun, None)
    if event is not None:
        return SampleTurn(event.session, turn, is_stored=True)
    what = f"The rules of phase {phase} were not evaluated" if phase else f"{step} did not run"
    note = f"{what} in this turn. The facts at the end of the turn are used." if phase or step else ""
    return SampleTurn(turn.trail.events[-1].session, turn, note, is_stored=True)


def list_recent_turns(intent: str) -> list[SampleChoice]:
    """The newest turns that can be replayed, at most `OFFERED`, those of the intent first. One query.

    Only the last `LOOKED_AT` turns are looked at.
    """
    replayable = CeConversationHistory.objects.filter(recording__isnull=False, replayable=True).order_by("-history_id")
    rows = list(replayable.values_list("turn_id", "user_input", "intent_code", "state_code", "created_at")[:LOOKED_AT])
    rows.sort(key=lambda row: code(row[2]) != code(intent))
    return [
        SampleChoice(
            str(turn_id),
            f"“{shorten_line(text, 60)}” · {own} / {state} · "
            f"{formats.date_format(timezone.localtime(made), 'DATETIME_FORMAT')}",
        )
        for turn_id, text, own, state, made in rows[:OFFERED]
    ]
