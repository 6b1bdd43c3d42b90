"""Run a stored turn again from its recording, on its own release, and compare event for event (law 3, R32).

Nothing is called and nothing is written: every port answers from the tape.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from audit.filters import AuditFilter
from audit.implied import running, whole
from audit.queries import whole_turns
from audit.rows import audit_rows, masked
from convengine import conf, wiring
from convengine.codec import loads, plain
from convengine.domain.conversation import Loaded
from convengine.domain.recording import Playback
from convengine.domain.stages import AFTER_THE_ANSWER
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn
from convengine.sessions.clock import TurnClock
from convengine.sessions.models import CeConversationHistory
from convengine.sessions.recording import Recorded, restore

Json = Any
#: What differs between two runs of the same turn and says nothing about it.
_TIMES = frozenset(
    {"durationMs", "totalMs", "wallMs", "startedAtMs", "emittedAt", "steps", "llmMs", "toolMs", "sqlCount", "latencyMs"}
)
#: Up to here a float tells every whole number from the next.
_EXACT = 2**53


class NotReplayable(ValueError):
    """This turn cannot be run again."""


@dataclass(frozen=True)
class Difference:
    """The first event in which a replay differs from the record."""

    seq: int
    recorded: tuple[str, Json] | None
    replayed: tuple[str, Json] | None


@dataclass
class RecordedConversations:
    """The conversations port of a replay."""

    loaded: Loaded

    def load(self) -> Loaded:
        """What the turn read."""
        return self.loaded

    def store(self) -> None:
        """Nothing is written."""


def replay(record: CeConversationHistory) -> Difference | None:
    """Null when the turn, run again, leaves the same events. Raises NotReplayable."""
    recorded = _recorded(record)
    turn = _turn(recorded)
    outcome = wiring.engine().run(turn)
    rows = audit_rows(turn)
    payloads = loads(masked(rows, AuditFilter.of(turn.snapshot).redact_keys))
    replayed = _told((row.stage, payload) for row, payload in zip(rows, payloads, strict=True))
    stored = _told(
        (row.stage, row.payload_json)
        for row in whole_turns(record.conversation_id, [record.turn_no])
        if row.stage not in AFTER_THE_ANSWER
    )
    difference = _first_difference(stored, replayed)
    if difference is None and not outcome.error:
        answers = record.assistant_output, plain(outcome.session.last_assistant)
        if comparable(answers[0]) != comparable(answers[1]):
            return Difference(len(stored), ("answer", answers[0]), ("answer", answers[1]))
    return difference


def rerun(record: CeConversationHistory) -> Turn:
    """The turn, run again: its trail holds the session of every moment. Raises NotReplayable."""
    turn = _turn(_recorded(record))
    wiring.engine().run(turn)
    return turn


def _recorded(record: CeConversationHistory) -> Recorded:
    if not record.recording:
        raise NotReplayable(record.replay_note or "The turn has no recording.")
    if not record.replayable:
        raise NotReplayable(record.replay_note or "The recording is not complete.")
    return restore(record.recording)


def _turn(recorded: Recorded) -> Turn:
    clock, tape = TurnClock(recorded.now), Playback(recorded.tape)
    snapshot = conf.load("SNAPSHOT").at(recorded.config_version)
    ports = wiring.ports(clock, RecordedConversations(recorded.loaded), tape, snapshot)
    return Turn(recorded.turn_id, recorded.turn_no, recorded.request, snapshot, ports, Trail(clock.elapsed_ms))


def _told(events: Iterable[tuple[str, Mapping[str, Json]]]) -> list[tuple[str, Json]]:
    """Stage and payload of events as they are compared, with what follows from the rest."""
    told: list[tuple[str, Json]] = []
    step: str | None = None
    for stage, payload in events:
        meta = payload.get("_meta")
        step = running(stage, payload, meta if isinstance(meta, Mapping) else {}, step)
        told.append((stage, comparable(whole(stage, payload, step))))
    return told


def _first_difference(left: list[tuple[str, Json]], right: list[tuple[str, Json]]) -> Difference | None:
    for place in range(max(len(left), len(right))):
        one = left[place] if place < len(left) else None
        other = right[place] if place < len(right) else None
        if one != other:
            return Difference(place + 1, one, other)
    return None


def comparable(value: Json) -> Json:
    """The payload without times and durations, whatever depth they stand at.

    PostgreSQL writes a float such as 1e23 out as a whole number; beyond what a float holds exactly the two are one.
    """
    if isinstance(value, Mapping):
        return {key: comparable(item) for key, item in value.items() if key not in _TIMES}
    if isinstance(value, int) and abs(value) > _EXACT:
        return float(str(value))
    return [comparable(item) for item in value] if isinstance(value, list) else value
