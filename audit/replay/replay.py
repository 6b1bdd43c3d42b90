"""Run a stored turn again from its recording, on its own release, event for event, or on another one.

Nothing is called and nothing is written: every port answers from the tape.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from audit.record.document import list_unstored_events
from audit.record.events import StoredEvent, expand_events
from audit.record.queries import read_turns
from audit.replay.comparison import StepPair, compare_events
from convengine.engine.cached_property import cached_property
from convengine.engine.stages import AFTER_THE_ANSWER
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.recording import Playback, Reuse, drop_times
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.play.play import PlayedTurn, play_recorded
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import EXTERNAL, CeConversationHistory
from convengine.server.turns.stored_recording import StoredRecording, read_recording

#: Maximum turns of one answer.
MAX_TURNS = 100


class NotReplayable(ValueError):
    """This turn cannot be replayed."""


@dataclass(frozen=True)
class FirstDifference:
    """The first event in which a replay differs from the record."""

    seq: int
    recorded: tuple[str, Json] | None
    replayed: tuple[str, Json] | None
    #: The calls without a recorded answer, and the recorded ones that were not made.
    calls: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replay:
    record: CeConversationHistory
    #: The release that it ran on.
    config_version: int
    #: None when it cannot be replayed, and why; and for a turn handled elsewhere.
    turn: PlayedTurn | None = None
    refused: str = ""
    #: Requested and not recorded; recorded and not requested.
    missing: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    #: What an older recording does not have.
    unrecorded: str = ""

    @cached_property
    def stored_events(self) -> list[StoredEvent]:
        stored = read_turns(self.record.conversation_id, [self.record.turn_no or 0])
        return [event for event in stored if event.stage not in AFTER_THE_ANSWER]

    @property
    def is_external(self) -> bool:
        """True for a turn handled elsewhere: its answer came from outside, on whatever release, so nothing runs."""
        return self.record.source == EXTERNAL and not self.refused

    @cached_property
    def events(self) -> list[StoredEvent]:
        if self.is_external:
            return self.stored_events
        return list_unstored_events(self.turn.turn) if self.turn else []

    @property
    def answers(self) -> tuple[Json, Json]:
        """Both answers; None on a side where the turn failed or did not run."""
        if self.is_external:
            return self.record.assistant_output, self.record.assistant_output
        replayed = self.turn and not self.turn.error and to_plain(self.turn.outcome.session.last_assistant)
        return drop_times(self.record.assistant_output), drop_times(replayed or None)

    @property
    def is_on_own_release(self) -> bool:
        """True on the turn's own release, where nothing may differ."""
        return self.config_version == self.record.config_version

    @cached_property
    def steps(self) -> Sequence[StepPair]:
        if self.turn is None:
            return ()
        return compare_events(list(expand_events(self.stored_events)), list(expand_events(self.events)))

    @property
    def differing(self) -> int:
        return sum(step.differs for step in self.steps)

    @property
    def is_equal(self) -> bool:
        """True when no event and no answer differs, and every call was recorded."""
        if self.turn is None or self.first_difference or self.missing:
            return self.is_external
        return not self.differing and self.answers[0] == self.answers[1]

    @cached_property
    def first_difference(self) -> FirstDifference | None:
        """The first difference on the turn's own release, in an event, the answer, or the calls; elsewhere None."""
        if not self.is_on_own_release or self.is_external:
            return None
        calls = (*self.missing, *(f"Recorded and not asked for: {call}." for call in self.unasked))
        then, now = self.answers
        pairs = zip_longest(_comparable_events(self.stored_events), _comparable_events(self.events))
        differing = (FirstDifference(seq, *pair) for seq, pair in enumerate(pairs, start=1) if pair[0] != pair[1])
        difference = next(differing, None)
        if difference is None and then != now:
            difference = FirstDifference(len(self.stored_events), ("answer", then), ("answer", now))
        if difference is None and calls:
            difference = FirstDifference(len(self.stored_events), None, None)
        return replace(difference, calls=(*calls, *filter(None, [self.unrecorded]))) if difference else None


def replay_turn(record: CeConversationHistory, config_version: int | None = None) -> Replay:
    """Replay a turn on a release, by default its own. Nothing outside is called, and nothing is written.

    On another release, recorded answers to the same questions are reused. Raises LookupError for an unknown release.
    """
    version = record.config_version if config_version is None else config_version
    if record.source == EXTERNAL:
        return Replay(record, version, refused="" if record.events else "The events of the turn are gone.")
    snapshot = configuration().at(version)
    try:
        recorded = restore_recording(record)
    except NotReplayable as refused:
        return Replay(record, version, refused=str(refused))
    if version == record.config_version:
        own = Playback(recorded.tape)
        turn = play_recorded(recorded, own, snapshot)
        return Replay(record, version, turn, "", tuple(own.missing), tuple(own.unasked), own.unrecorded)
    turn, tape = play_elsewhere(recorded, snapshot, find_subjects(recorded, configuration().at))
    return Replay(record, version, turn, "", tuple(tape.missing), tuple(tape.unasked))


def play_elsewhere(
    recorded: StoredRecording, snapshot: Snapshot, subjects: Mapping[int, Json]
) -> tuple[PlayedTurn, Reuse]:
    """Play a recorded turn on any configuration, and the tape, which names the calls that it cannot answer."""
    tape = Reuse(recorded.tape, subjects)
    return play_recorded(recorded, tape, snapshot), tape


def find_subjects(recorded: StoredRecording, read_release: Callable[[int], Snapshot]) -> Mapping[int, Json]:
    """What the recorded calls of tasks and transformers were about, by their position on the tape.

    The recording does not have it: the turn runs once more on its own release. Turns without such calls do not. Raises
    LookupError for a release that does not exist.
    """
    if not any(port == "task" or (port == "transform" and answer["transformer"]) for port, _, answer in recorded.tape):
        return {}
    tape = Playback(recorded.tape)
    play_recorded(recorded, tape, read_release(recorded.config_version))
    return tape.subjects


def get_current_release() -> int:
    version: int = configuration().current().config_version
    return version


def find_replay_difference(record: CeConversationHistory) -> FirstDifference | None:
    """Returns None when the replayed turn leaves the same events. Raises NotReplayable."""
    replay = replay_turn(record)
    if replay.refused:
        raise NotReplayable(replay.refused)
    return replay.first_difference


def rebuild_turn(record: CeConversationHistory) -> Turn:
    """The replayed turn, whose events have the session of every moment. Raises NotReplayable."""
    replay = replay_turn(record)
    if replay.turn is None:
        raise NotReplayable(replay.refused or record.replay_note)
    return replay.turn.turn


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
        # The pointers of removed values have no order.
        changed = {**event.changed, "unset": sorted(event.changed.get("unset") or ())}
        content = {**event.payload_json, "_session": event.session or changed, "_step": event.step}
        comparable_events.append((event.stage, drop_times(content)))
    return comparable_events
