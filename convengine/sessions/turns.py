"""take_turn: lease, pin, run, commit; the one imperative function of the product (law 1)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import DatabaseError, connection, transaction

from convengine import conf, wiring
from convengine.domain import settings
from convengine.domain.catalogue import audit as catalogue
from convengine.domain.enums import TurnStatus
from convengine.domain.payload import Payload
from convengine.domain.recording import Recording
from convengine.domain.session import Session
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn, TurnRequest
from convengine.domain.verbose import VerboseLine
from convengine.errors import ConvEngineError, ConversationPersistFailed, TurnConflict, TurnTimeout
from convengine.pipeline.engine import EngineOutcome
from convengine.sessions import afterwards, idempotency, memory, store, waiting
from convengine.sessions import lease as leases
from convengine.sessions.clock import TurnClock
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.keeper import keeper
from convengine.sessions.recording import record
from convengine.sessions.writes import Refused, Write, execute, together
from convengine.verbose.listen import listen

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class TurnAnswer:
    """How a turn ended, as the API tells it."""

    conversation_id: str
    turn_id: str
    turn_no: int
    config_version: int
    session: Session
    payload: Payload | None = None
    error: ConvEngineError | None = None
    ignored_params: tuple[str, ...] = ()
    duration_ms: float = 0.0
    #: The progress lines of the turn, in order.
    verbose: tuple[VerboseLine, ...] = ()


@dataclass(frozen=True)
class Replayed:
    """The stored answer of an earlier call with the same key."""

    body: Any


#: Makes the wire form of an answer; it is stored with the idempotency key, in the turn's commit.
Wire = Any


def take_turn(
    request: TurnRequest,
    key: IdempotencyKey | None = None,
    wire: Wire | None = None,
    condition: leases.Condition | None = None,
) -> TurnAnswer | Replayed:
    """Run one turn and commit it. With a key, a call that was answered before is answered the same again.

    No turn begins when the condition does not hold; then what its check raises is raised.

    Raises what happens before a turn exists (TurnInProgress, ConversationNotFound, IdempotencyKeyReused, …) and
    TurnConflict or ConversationPersistFailed when nothing could be stored. An error of the turn itself is in the
    answer, and recorded.
    """
    with _database_faults():
        try:
            lease = leases.take(request, key, condition)
        except leases.Answered as answered:
            return Replayed(answered.body)
        return _run(request, lease, key, wire)


def _run(request: TurnRequest, lease: leases.Lease, key: IdempotencyKey | None, wire: Wire | None) -> TurnAnswer:
    turn, tape = _opened(request, lease)
    with (
        keeper.keeping(lease.token),
        structlog.contextvars.bound_contextvars(conversation_id=request.conversation_id, turn_no=turn.turn_no),
    ):
        outcome = wiring.engine().run(turn)
    answer = _answer(turn, outcome)
    try:
        if outcome.error is None:
            _commit(turn, lease, outcome, tape, _kept(key, answer, wire))
        else:
            _record_failure(turn, lease, outcome, tape)
    except Exception as refused:
        error = refused if isinstance(refused, TurnConflict) else ConversationPersistFailed()
        _give_up(turn, lease, EngineOutcome(outcome.session, error=error), tape)
        raise
    finally:
        # Who listens holds the turn, and the turn holds who listens: let go, it is gone at once.
        turn.trail.listeners, turn.trail.watchers, turn.flush_step = (), {}, None
    if outcome.error is None and not outcome.stopped:
        afterwards.offer(turn, lease, outcome.session)
    return answer


def _give_up(turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording) -> None:
    """A turn that could not be stored still took a number: leave its record, and the lease, on a new connection.

    When the lease is gone, whoever took it has left the record; when the database is, whoever finds the lease will.
    """
    waiting.release_connection()
    try:
        _record_failure(turn, lease, outcome, tape, "The turn could not be stored, which a replay does not repeat.")
    except Exception as refused:
        log.warning("failed turn not recorded", turn_id=turn.turn_id, error=str(refused))


def _opened(request: TurnRequest, lease: leases.Lease) -> tuple[Turn, Recording]:
    snapshot = conf.load("SNAPSHOT").pin(lease.head)
    clock, tape = TurnClock(lease.now), Recording()
    ports = wiring.ports(clock, store.LiveConversations(lease, request, snapshot), tape, snapshot, request.workspace_id)
    trail = Trail(clock.elapsed_ms, tuple(conf.load_all("TRAIL_LISTENERS")))
    turn = Turn(lease.turn_id, lease.turn_no, request, snapshot, ports, trail)
    turn.verbose_listeners = wiring.verbose_listeners()
    listen(turn, lambda fault: log.warning("progress not told", error=str(fault), exc_info=fault))
    turn.time_limit_ms = conf.get("TURN_TIMEOUT_SECONDS") * 1000
    if settings.read(snapshot, catalogue.FLUSH).value == "STEP":
        turn.flush_step = _StepFlush(turn, lease)
    return turn, tape


@dataclass
class _StepFlush:
    """AUDIT/FLUSH = STEP: each step's events at once, in a transaction of their own (R2).

    Raises TurnConflict when the lease was lost: whoever took it has written the end of this turn's trail.
    """

    turn: Turn
    lease: leases.Lease
    stored: int = 0

    def __call__(self) -> None:
        """Store what is not stored yet."""
        with transaction.atomic():
            if not leases.renew(self.lease.token):
                raise TurnConflict()
            for write in conf.load("AUDIT_WRITER").events(self.turn, self.stored):
                execute(write)
        self.stored = len(self.turn.trail.events)
        self.turn.model_calls_stored = len(self.turn.model_calls)


def _commit(turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording, kept: Sequence[Write]) -> None:
    """Everything at once: conversation, turn record, audit, deciding rows, the stored answer (sessions 7)."""

    def anew() -> str:
        store.recreate(turn, lease, outcome.session)
        return "The conversation was deleted while the turn ran, which a replay does not repeat."

    _write(
        _Ending(turn, outcome, tape, TurnStatus.BLOCKED if outcome.stopped else TurnStatus.OK),
        store.conversation_written(lease, outcome.session),
        [*memory.remembered(turn, lease.conversation, outcome.session), *kept],
        anew,
    )


def _record_failure(
    turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording, note: str | None = None
) -> None:
    """The turn record and the trail of a turn that failed; the conversation stays as it was."""

    def lost() -> str:
        raise TurnConflict()

    _write(_Ending(turn, outcome, tape, TurnStatus.FAILED, note), store.released(lease, outcome.session), [], lost)


@dataclass(frozen=True)
class _Ending:
    """A turn that ran, and the record that it leaves."""

    turn: Turn
    outcome: EngineOutcome
    tape: Recording
    status: TurnStatus
    #: Why the turn cannot be replayed, if that is known by now.
    note: str | None = None

    def record(self, note: str | None = None, lost_events: int = 0) -> Write:
        """The turn record. `note` says why the turn cannot be replayed, if it cannot."""
        note = note or self.note
        redact = frozenset(name.lower() for name in settings.read(self.turn.snapshot, catalogue.REDACT_KEYS).value)
        data, masked = record(self.turn, self.tape, redact)
        if isinstance(self.outcome.error, TurnTimeout):
            note = "The turn ended because its time was over, which a replay does not repeat."
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
        )


def _write(ending: _Ending, conversation: Write, more: Sequence[Write], missed: Callable[[], str]) -> None:
    """Write all or nothing. What is refused is tried once more, event by event (R2).

    `missed` is called when the conversation's row was not met; it says why the turn cannot be replayed, or raises.
    """
    writer, turn = conf.load("AUDIT_WRITER"), ending.turn
    already = turn.flush_step.stored if turn.flush_step else 0
    try:
        together([conversation, *more, *writer.writes(turn, already), ending.record()])
    except Refused:
        with transaction.atomic():
            note = None if execute(conversation) else missed()
            # Another call with this key committed meanwhile, in another conversation: this one must not count.
            if not all(execute(write) or not write.must for write in more):
                raise TurnConflict() from None
            execute(ending.record(note, writer.write_with_care(turn, already)))


def _kept(key: IdempotencyKey | None, answer: TurnAnswer, wire: Wire | None) -> list[Write]:
    if key is None or wire is None:
        return []
    return [idempotency.kept(key, answer.conversation_id, answer.turn_id, wire(answer))]


def _answer(turn: Turn, outcome: EngineOutcome) -> TurnAnswer:
    return TurnAnswer(
        turn.request.conversation_id,
        turn.turn_id,
        turn.turn_no,
        turn.snapshot.config_version,
        outcome.session,
        outcome.result.payload if outcome.result else None,
        outcome.error,
        turn.request.ignored_params,
        turn.ports.clock.elapsed_ms(),
        tuple(turn.verbose),
    )


@contextmanager
def _database_faults() -> Iterator[None]:
    """A database that fails is one error to the caller; its text goes to the log."""
    try:
        yield
    except DatabaseError as error:
        log.error("turn not stored", error=str(error), exc_info=True)
        if not connection.in_atomic_block:
            connection.close()
        raise ConversationPersistFailed() from error
