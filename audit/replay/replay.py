"""Replay a stored turn from its recording, on its own release, and compare event for event.

Nothing is called and nothing is written: every port answers from the tape.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from audit.record.document import list_unstored_events
from audit.record.events import StoredEvent
from audit.record.queries import read_turns
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.recording import Playback, Reuse, drop_times
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.play.play import PlayedTurn, play_recorded
from convengine.server.app_interfaces import configuration
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.turn_record import StoredRecording, read_recording

Json = Any


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


@dataclass(frozen=True)
class Replayed:
    """A turn as it is recorded, and its replay."""

    record: CeConversationHistory
    turn: PlayedTurn
    #: Requested and not recorded; recorded and not requested.
    missing: tuple[str, ...]
    unasked: tuple[str, ...]
    #: Answered from the recording of another prompt.
    stretched: tuple[str, ...] = ()

    @cached_property
    def stored_events(self) -> list[StoredEvent]:
        """The recorded events."""
        stored = read_turns(self.record.conversation_id, [self.record.turn_no or 0])
        return [event for event in stored if event.stage not in AFTER_THE_ANSWER]

    @cached_property
    def events(self) -> list[StoredEvent]:
        """The events of the replay, which are not stored."""
        return list_unstored_events(self.turn.turn)

    @property
    def answers(self) -> tuple[Json, Json]:
        """Both answers; null on a side where the turn failed."""
        replayed = None if self.turn.error else to_plain(self.turn.outcome.session.last_assistant)
        return drop_times(self.record.assistant_output), drop_times(replayed)


def find_replay_difference(record: CeConversationHistory) -> Difference | None:
    """Null when the replayed turn leaves the same events. Raises NotReplayable."""
    return first_difference(replay_turn(record))


def first_difference(replayed: Replayed) -> Difference | None:
    """The first difference of a replay on the turn's own release: in an event, the answer, or the calls; else null."""
    calls = (*replayed.missing, *(f"Recorded and not asked for: {call}." for call in replayed.unasked))
    stored, (then, now) = replayed.stored_events, replayed.answers
    difference = _first_differing_event(_comparable_events(stored), _comparable_events(replayed.events))
    if difference is None and then != now:
        difference = Difference(len(stored), ("answer", then), ("answer", now))
    if difference is None and calls:
        difference = Difference(len(stored), None, None)
    return replace(difference, calls=calls) if difference else None


def replay_turn(record: CeConversationHistory, snapshot: Snapshot | None = None) -> Replayed:
    """Replay a turn, on its own release or on another configuration. Nothing is called. Raises NotReplayable."""
    recorded = restore_recording(record)
    tape = Reuse(recorded.tape) if snapshot else Playback(recorded.tape)
    turn = play_recorded(recorded, tape, snapshot or configuration().at(recorded.config_version))
    stretched = tuple(tape.stretched) if isinstance(tape, Reuse) else ()
    return Replayed(record, turn, tuple(tape.missing), tuple(tape.unasked), stretched)


def rebuild_turn(record: CeConversationHistory) -> Turn:
    """The replayed turn, whose events have the session of every moment. Raises NotReplayable."""
    return replay_turn(record).turn.turn


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


def _comparable_events(events: Iterable[StoredEvent]) -> list[tuple[str, Json]]:
    """Stage and content of events for comparison."""
    comparable_events: list[tuple[str, Json]] = []
    for event in events:
        content = {**event.payload_json, "_session": event.session or event.changed, "_step": event.step}
        comparable_events.append((event.stage, drop_times(content)))
    return comparable_events


def _first_differing_event(left: list[tuple[str, Json]], right: list[tuple[str, Json]]) -> Difference | None:
    for index in range(max(len(left), len(right))):
        own = left[index] if index < len(left) else None
        other = right[index] if index < len(right) else None
        if own != other:
            return Difference(index + 1, own, other)
    return None
