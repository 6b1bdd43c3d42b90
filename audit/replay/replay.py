"""Replay a stored turn from its recording, on its own release, and compare event for event (law 3, R32).

Nothing is called and nothing is written: every port answers from the tape.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit.record.document import list_unstored_events
from audit.record.events import StoredEvent
from audit.record.queries import read_turns
from convengine.engine.redaction import Redaction
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import Loaded
from convengine.engine.turn.recording import Playback, Reuse, Tape
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.app_interfaces import configuration
from convengine.server.database.sql import TurnClock
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.turn_record import StoredRecording, read_recording

Json = Any
#: Times and durations, which differ in any two runs.
_TIMES = frozenset(
    {"durationMs", "totalMs", "wallMs", "startedAtMs", "emittedAt", "steps", "llmMs", "toolMs", "sqlCount", "latencyMs"}
)
#: Up to here a float distinguishes all whole numbers.
_EXACT = 2**53


class NotReplayable(ValueError):
    """This turn cannot be replayed."""


@dataclass(frozen=True)
class Difference:
    """The first event in which a replay differs from the record."""

    seq: int
    recorded: tuple[str, Json] | None
    replayed: tuple[str, Json] | None
    #: The calls without a recorded answer, and the recorded ones that were not made.
    calls: tuple[str, ...] = ()


@dataclass
class RecordedConversations:
    """The conversations port of a replay."""

    loaded: Loaded

    def load(self) -> Loaded:
        return self.loaded

    def store(self) -> None:
        """Nothing is written."""


@dataclass(frozen=True)
class Run:
    """A turn as it is recorded, and its replay."""

    #: The recorded events; those of the replay are not stored.
    stored: list[StoredEvent]
    replayed: list[StoredEvent]
    #: Null on a side where the turn failed.
    answers: tuple[Json, Json]
    #: Requested and not recorded; recorded and not requested.
    missing: tuple[str, ...]
    unasked: tuple[str, ...]
    #: Answered from the recording of another prompt.
    stretched: tuple[str, ...] = ()
    #: The masked session after the replay; null if it failed, and the error.
    ended: Session | None = None
    error_code: str | None = None


def find_replay_difference(record: CeConversationHistory) -> Difference | None:
    """Null when the replayed turn leaves the same events. Raises NotReplayable."""
    return first_difference(replay_turn(record))


def first_difference(run: Run) -> Difference | None:
    """The first difference of a replay on the turn's own release: in an event, the answer, or the calls; else null."""
    calls = (*run.missing, *(f"Recorded and not asked for: {call}." for call in run.unasked))
    difference = _first_differing_event(_comparable_events(run.stored), _comparable_events(run.replayed))
    if difference is None and run.answers[0] != run.answers[1]:
        difference = Difference(len(run.stored), ("answer", run.answers[0]), ("answer", run.answers[1]))
    if difference is None and calls:
        difference = Difference(len(run.stored), None, None)
    return replace(difference, calls=calls) if difference else None


def replay_turn(record: CeConversationHistory, snapshot: Snapshot | None = None) -> Run:
    """Replay a turn, on its own release or on another configuration. Nothing is called. Raises NotReplayable."""
    recorded = restore_recording(record)
    tape = Reuse(recorded.tape) if snapshot else Playback(recorded.tape)
    turn = build_turn(recorded, tape, snapshot or configuration().at(recorded.config_version))
    outcome = wiring.engine().run(turn)
    stored = read_turns(record.conversation_id, [record.turn_no or 0])
    replayed = list_unstored_events(turn)
    return Run(
        [event for event in stored if event.stage not in AFTER_THE_ANSWER],
        replayed,
        (
            comparable(record.assistant_output),
            comparable(None if outcome.error else to_plain(outcome.session.last_assistant)),
        ),
        tuple(tape.missing),
        tuple(tape.unasked),
        tuple(tape.stretched) if isinstance(tape, Reuse) else (),
        None if outcome.error else Redaction.of(turn.snapshot).session(outcome.session),
        outcome.error.code if outcome.error else None,
    )


def rebuild_turn(record: CeConversationHistory) -> Turn:
    """The replayed turn, whose events have the session of every moment. Raises NotReplayable."""
    recorded = restore_recording(record)
    turn = build_turn(recorded, Playback(recorded.tape), configuration().at(recorded.config_version))
    wiring.engine().run(turn)
    return turn


def restore_recording(record: CeConversationHistory) -> StoredRecording:
    """What a turn read and was answered. Raises NotReplayable."""
    if not record.recording:
        raise NotReplayable(record.replay_note or "The turn has no recording.")
    if not record.replayable:
        raise NotReplayable(record.replay_note or "The recording is not complete.")
    try:
        return read_recording(record.recording)
    except ValueError as unreadable:
        raise NotReplayable(str(unreadable)) from unreadable


def build_turn(recorded: StoredRecording, tape: Tape, snapshot: Snapshot) -> Turn:
    """The turn as it began, on a configuration, with the answers of a tape."""
    clock = TurnClock(recorded.now)
    kinds = {request["kind"] for port, request, _ in recorded.tape if port == "finder"}
    ports = wiring.ports(clock, RecordedConversations(recorded.loaded), tape, snapshot, finder_kinds=kinds)
    trail = Trail(clock.elapsed_ms)
    return Turn(
        recorded.turn_id,
        recorded.turn_no,
        recorded.request,
        snapshot,
        ports,
        trail,
        release_choice=recorded.release_choice,
    )


def _comparable_events(events: Iterable[StoredEvent]) -> list[tuple[str, Json]]:
    """Stage and content of events for comparison."""
    comparable_events: list[tuple[str, Json]] = []
    for event in events:
        content = {**event.payload_json, "_session": event.session or event.changed, "_step": event.step}
        comparable_events.append((event.stage, comparable(content)))
    return comparable_events


def _first_differing_event(left: list[tuple[str, Json]], right: list[tuple[str, Json]]) -> Difference | None:
    for index in range(max(len(left), len(right))):
        own = left[index] if index < len(left) else None
        other = right[index] if index < len(right) else None
        if own != other:
            return Difference(index + 1, own, other)
    return None


def comparable(value: Json) -> Json:
    """The payload without times and durations, at any depth.

    PostgreSQL returns a float such as 1e23 as a whole number; beyond the exact range of floats both are equal.
    """
    if isinstance(value, Mapping):
        return {key: comparable(item) for key, item in value.items() if key not in _TIMES}
    if isinstance(value, int) and abs(value) > _EXACT:
        return float(str(value))
    return [comparable(item) for item in value] if isinstance(value, list) else value
