"""A turn's one commit, or the record of one that failed: all or nothing (sessions 7, R2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.db import DataError, transaction

from convengine import conf
from convengine.continuity.lifecycle import INTERRUPTED, RUNNING, stepped
from convengine.domain.enums import TurnStatus
from convengine.domain.recording import Recording
from convengine.domain.turn import Left, Turn
from convengine.errors import TurnConflict, TurnInterrupted, TurnTimeout
from convengine.pipeline.engine import EngineOutcome
from convengine.rules.redacting import Redaction
from convengine.sessions import lease as leases
from convengine.sessions import making, memory, store
from convengine.sessions.interrupting import is_interrupted
from convengine.sessions.recording import record
from convengine.sessions.units import cleared, committed
from convengine.sessions.writes import Refused, Write, execute, together


@dataclass
class StepFlush:
    """AUDIT/FLUSH = STEP: each step's events at once, in a transaction of their own (R2).

    Raises TurnConflict when the lease was lost: whoever took it has written the end of this turn's trail.
    """

    turn: Turn
    lease: leases.Lease
    stored: int = 0

    def __call__(self) -> None:
        """Store what is not stored yet. A turn that went on in a new session stores all of it with that one."""
        if self.turn.left:
            return
        with transaction.atomic():
            if not leases.renew(self.lease.token):
                raise TurnConflict()
            for write in conf.load("AUDIT_WRITER").events(self.turn, self.stored):
                execute(write)
        self.stored = len(self.turn.trail.events)
        self.turn.model_calls_stored = len(self.turn.model_calls)


def commit(turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording, kept: Sequence[Write]) -> None:
    """Everything at once: conversation, turn record, audit, deciding rows, the stored answer (sessions 7).

    Raises TurnConflict, and TurnInterrupted when a newer message came in time to stop the turn (R29).
    """
    redaction = Redaction.of(turn.snapshot)
    outcome = replace(outcome, session=redaction.session(outcome.session))
    if turn.left:
        _commit_in_next_session(turn, turn.left, lease, outcome, tape, kept)
        return

    def anew() -> str:
        if is_interrupted(lease.token):
            raise TurnInterrupted()
        making.recreate(turn, lease, outcome.session)
        return "The conversation was deleted while the turn ran, which a replay does not repeat."

    _write(
        _Ending(turn, outcome, tape, TurnStatus.BLOCKED if outcome.stopped else TurnStatus.OK, lease.chain_head),
        lambda head: store.conversation_written(lease, outcome.session, head, whatever_came=turn.uninterruptible),
        [
            *memory.remembered(turn, lease.conversation, outcome.session),
            *committed(outcome.session, redaction),
            *kept,
        ],
        anew,
    )


def _commit_in_next_session(
    turn: Turn, left: Left, lease: leases.Lease, outcome: EngineOutcome, tape: Recording, kept: Sequence[Write]
) -> None:
    """The same for a turn that ended one session and began the next: both rows change at once (R40)."""
    writer, session, redaction = conf.load("AUDIT_WRITER"), outcome.session, Redaction.of(turn.snapshot)
    more = [*memory.remembered(turn, lease.conversation, session), *committed(session, redaction), *kept]
    with transaction.atomic():
        if not execute(making.left(lease, redaction.session(left.session))):
            raise TurnInterrupted() if is_interrupted(lease.token) else TurnConflict()
        making.begun(turn, lease, session)
        if not all(execute(write) or not write.must for write in more):
            raise TurnConflict()
        try:
            with transaction.atomic():
                for write in writer.writes(turn):
                    execute(write)
            lost = 0
        except DataError:
            lost = writer.write_with_care(turn)
        record, head = _Ending(turn, outcome, tape, TurnStatus.OK, None).record(None, lost)
        execute(record)
        execute(store.headed(session.conversation_id, head))


def record_failure(
    turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording, note: str | None = None
) -> None:
    """The turn record and the trail of a turn that failed; the conversation stays as it was."""

    def lost() -> str:
        raise TurnConflict()

    status = TurnStatus.INTERRUPTED if isinstance(outcome.error, TurnInterrupted) else TurnStatus.FAILED
    # A turn may fail of something else before it sees that it was marked.
    if status is TurnStatus.INTERRUPTED or (turn.interrupted and is_interrupted(lease.token)):
        # A session whose turn runs counts as RUNNING, whatever its row says (R29).
        stepped(outcome.session.evolve(lifecycle=RUNNING.value), turn, INTERRUPTED, "interrupted")
    outcome = replace(outcome, session=Redaction.of(turn.snapshot).session(outcome.session))
    ending = _Ending(turn, outcome, tape, status, lease.chain_head, note)
    _write(ending, lambda head: store.released(lease, outcome.session, head), cleared(outcome.session), lost)


@dataclass(frozen=True)
class _Ending:
    """A turn that ran, and the record that it leaves."""

    turn: Turn
    outcome: EngineOutcome
    tape: Recording
    status: TurnStatus
    #: The hash of the seal before this one; null for the first of a conversation.
    previous: bytes | None
    #: Why the turn cannot be replayed, if that is known by now.
    note: str | None = None

    def record(self, note: str | None = None, lost_events: int = 0) -> tuple[Write, bytes]:
        """The turn record, over all that is stored of the turn by now, and the hash of its seal.

        `note` says why the turn cannot be replayed, if it cannot.
        """
        note = note or self.note
        data, masked = record(self.turn, self.tape, Redaction.of(self.turn.snapshot))
        if isinstance(self.outcome.error, TurnTimeout):
            note = "The turn ended because its time was over, which a replay does not repeat."
        if isinstance(self.outcome.error, TurnInterrupted):
            note = "A newer message interrupted the turn, which a replay does not repeat."
        note = note or masked
        return store.recorded(
            self.turn,
            store.TurnRecord(
                self.status,
                self.outcome.session,
                data,
                replayable=note is None,
                replay_note=note,
                error=self.outcome.error,
                audit_incomplete=bool(lost_events),
            ),
            self.previous,
        )


def _write(
    ending: _Ending, conversation: Callable[[bytes], Write], more: Sequence[Write], missed: Callable[[], str]
) -> None:
    """Write all or nothing. What is refused is tried once more, event by event (R2).

    `conversation` makes the write of its row from the hash of the turn's seal. `missed` is called when that row was not
    met; it says why the turn cannot be replayed, or raises.
    """
    writer, turn = conf.load("AUDIT_WRITER"), ending.turn
    already = turn.flush_step.stored if turn.flush_step else 0
    events = writer.writes(turn, already)
    record, head = ending.record()
    try:
        together([conversation(head), *more, *events, record])
    except Refused:
        with transaction.atomic():
            note = None
            if not execute(conversation(head)):
                note, ending = missed(), replace(ending, previous=None)
            # Another call with this key committed meanwhile, in another conversation: this one must not count.
            if not all(execute(write) or not write.must for write in more):
                raise TurnConflict() from None
            record, head = ending.record(note, writer.write_with_care(turn, already))
            execute(record)
            execute(store.headed(ending.outcome.session.conversation_id, head))
