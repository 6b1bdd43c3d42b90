"""Run a stored turn again from its recording, on its own release, and compare event for event (law 3, R32).

Nothing is called and nothing is written: every port answers from the tape.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from audit import left_out
from audit.implied import running, whole
from audit.left_out import completed
from audit.models import CeAudit
from audit.queries import whole_turns
from audit.rows import audit_rows, masked, unstored
from convengine import conf, wiring
from convengine.codec import loads, plain
from convengine.domain.conversation import Loaded
from convengine.domain.params import without
from convengine.domain.recording import Playback, Reuse, Tape
from convengine.domain.session import Session
from convengine.domain.stages import AFTER_THE_ANSWER
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn
from convengine.rules.redacting import Redaction
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
    #: The calls that the recording has no answer to, and the recorded ones that were not made.
    calls: tuple[str, ...] = ()


@dataclass
class RecordedConversations:
    """The conversations port of a replay."""

    loaded: Loaded

    def load(self) -> Loaded:
        """What the turn read."""
        return self.loaded

    def store(self) -> None:
        """Nothing is written."""


@dataclass(frozen=True)
class Run:
    """A turn as it is recorded, and as it went when it was run again."""

    #: The events; those of the run are nowhere stored.
    stored: list[CeAudit]
    replayed: list[CeAudit]
    #: Null on a side where the turn failed.
    answers: tuple[Json, Json]
    #: Asked for and not recorded; recorded and not asked for.
    missing: tuple[str, ...]
    unasked: tuple[str, ...]
    #: Answered from the recording of another question.
    stretched: tuple[str, ...] = ()
    #: As the run left it, without what must not be written; null where it failed, and why.
    ended: Session | None = None
    error_code: str | None = None


def replay(record: CeConversationHistory) -> Difference | None:
    """Null when the turn, run again, leaves the same events. Raises NotReplayable."""
    return first_difference(run(record))


def first_difference(found: Run) -> Difference | None:
    """Where a run on the turn's own release differs first: in an event, the answer, or the calls; null for nowhere."""
    calls = (*found.missing, *(f"Recorded and not asked for: {call}." for call in found.unasked))
    difference = _first_difference(_told(found.stored), _told(found.replayed))
    if difference is None and found.answers[0] != found.answers[1]:
        difference = Difference(len(found.stored), ("answer", found.answers[0]), ("answer", found.answers[1]))
    if difference is None and calls:
        difference = Difference(len(found.stored), None, None)
    return replace(difference, calls=calls) if difference else None


def run(record: CeConversationHistory, config_version: int | None = None) -> Run:
    """Run a turn again, on its own release or on another one; nothing outside is called. Raises NotReplayable."""
    recorded = _recorded(record)
    own = config_version in (None, recorded.config_version)
    tape = Playback(recorded.tape) if own else Reuse(recorded.tape)
    turn = _turn(recorded if config_version is None else replace(recorded, config_version=config_version), tape)
    outcome = wiring.engine().run(turn)
    rows = audit_rows(turn)
    payloads = loads(masked(rows, Redaction.of(turn.snapshot)))
    told = whole_turns(record.conversation_id, [record.turn_no])
    return Run(
        [row for row in told if row.stage not in AFTER_THE_ANSWER],
        list(completed(unstored(turn, record.conversation_id, *one) for one in zip(rows, payloads, strict=True))),
        (
            comparable(record.assistant_output),
            comparable(None if outcome.error else plain(outcome.session.last_assistant)),
        ),
        tuple(tape.missing),
        tuple(tape.unasked),
        tuple(tape.stretched) if isinstance(tape, Reuse) else (),
        None if outcome.error else Redaction.of(turn.snapshot).session(outcome.session),
        outcome.error.code if outcome.error else None,
    )


def rerun(record: CeConversationHistory) -> Turn:
    """The turn, run again: its trail holds the session of every moment. Raises NotReplayable."""
    recorded = _recorded(record)
    turn = _turn(recorded, Playback(recorded.tape))
    wiring.engine().run(turn)
    return turn


def _recorded(record: CeConversationHistory) -> Recorded:
    if not record.recording:
        raise NotReplayable(record.replay_note or "The turn has no recording.")
    if not record.replayable:
        raise NotReplayable(record.replay_note or "The recording is not complete.")
    return restore(record.recording)


def _turn(recorded: Recorded, tape: Tape) -> Turn:
    clock = TurnClock(recorded.now)
    snapshot = conf.load("SNAPSHOT").at(recorded.config_version)
    ports = wiring.ports(clock, RecordedConversations(recorded.loaded), tape, snapshot)
    return Turn(recorded.turn_id, recorded.turn_no, recorded.request, snapshot, ports, Trail(clock.elapsed_ms))


def _told(rows: Iterable[CeAudit]) -> list[tuple[str, Json]]:
    """Stage and payload of events as they are compared, with what follows from the rest."""
    told: list[tuple[str, Json]] = []
    step: str | None = None
    for row in rows:
        payload = row.payload_json
        meta = payload.get("_meta")
        if isinstance(meta, Mapping) and left_out.KEY in meta:
            # How an event is stored, and not whether it happened.
            rest = {key: value for key, value in meta.items() if key != left_out.KEY}
            payload = {**without(payload, {"_meta"}), **({"_meta": rest} if rest else {})}
        step = running(row.stage, payload, meta if isinstance(meta, Mapping) else {}, step)
        told.append((row.stage, comparable(whole(row.stage, payload, step))))
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
