"""take_turn: lease, pin, run, commit; the one imperative function of the product (law 1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import structlog
from django.db import DatabaseError, connection

from convengine import conf, wiring
from convengine.domain import settings
from convengine.domain.catalogue import audit as catalogue
from convengine.domain.catalogue.session import ON_CONCURRENT_TURN
from convengine.domain.conversation import Conversation
from convengine.domain.payload import Payload
from convengine.domain.recording import Recording
from convengine.domain.session import Session
from convengine.domain.trail import Trail
from convengine.domain.turn import Left, Turn, TurnRequest
from convengine.domain.verbose import VerboseLine
from convengine.errors import ConvEngineError, ConversationPersistFailed, TurnConflict, TurnInterrupted
from convengine.pipeline.engine import EngineOutcome
from convengine.sessions import afterwards, idempotency, store, waiting
from convengine.sessions import lease as leases
from convengine.sessions.clock import TurnClock
from convengine.sessions.commit import StepFlush, commit, record_failure
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.interrupting import Watch
from convengine.sessions.keeper import keeper
from convengine.sessions.writes import Write
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
    #: The row that the turn began with, and when; null for neither in tests of the wire.
    before: Conversation | None = None
    at: datetime | None = None
    #: The session that the turn left for the one in which it is (R40).
    left_id: str | None = None


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
    TurnConflict, TurnInterrupted or ConversationPersistFailed when nothing could be stored. An error of the turn
    itself is in the answer, and recorded.
    """
    with _database_faults():
        try:
            lease = leases.take(request, key, condition)
        except leases.Answered as answered:
            return Replayed(answered.body)
        return _run(request, lease, key, wire)


def _run(request: TurnRequest, lease: leases.Lease, key: IdempotencyKey | None, wire: Wire | None) -> TurnAnswer:
    turn, tape = opened(request, lease)
    with (
        keeper.keeping(lease.token),
        structlog.contextvars.bound_contextvars(conversation_id=request.conversation_id, turn_no=turn.turn_no),
    ):
        outcome = wiring.engine().run(turn)
    if outcome.error and turn.left:
        outcome = _back(turn, turn.left, outcome)
    answer = _answer(turn, lease, outcome)
    try:
        if outcome.error is None:
            commit(turn, lease, outcome, tape, _kept(key, answer, wire))
        else:
            record_failure(turn, lease, outcome, tape)
    except Exception as refused:
        error = refused if isinstance(refused, (TurnConflict, TurnInterrupted)) else ConversationPersistFailed()
        if turn.left:
            outcome = _back(turn, turn.left, outcome)
        _give_up(turn, lease, EngineOutcome(outcome.session, error=error), tape)
        raise
    finally:
        # Who listens holds the turn, and the turn holds who listens: let go, it is gone at once.
        turn.trail.listeners, turn.trail.watchers, turn.flush_step = (), {}, None
        if turn.ended:
            turn.ended()
    if outcome.error is None and not outcome.stopped and turn.left is None:
        afterwards.offer(turn, lease, outcome.session)
    return answer


def _back(turn: Turn, left: Left, outcome: EngineOutcome) -> EngineOutcome:
    """A turn that fails in the session that it began never began it: it stands in the old one, under its number."""
    turn.request, turn.turn_no, turn.left = left.request, left.turn_no, None
    there = outcome.session.evolve(conversation_id=left.request.conversation_id, turn_no=left.turn_no)
    return replace(outcome, session=there)


def _give_up(turn: Turn, lease: leases.Lease, outcome: EngineOutcome, tape: Recording) -> None:
    """A turn that could not be stored still took a number: leave its record, and the lease, on a new connection.

    When the lease is gone, whoever took it has left the record; when the database is, whoever finds the lease will.
    """
    waiting.release_connection()
    try:
        record_failure(turn, lease, outcome, tape, "The turn could not be stored, which a replay does not repeat.")
    except Exception as refused:
        log.warning("failed turn not recorded", turn_id=turn.turn_id, error=str(refused))


def opened(request: TurnRequest, lease: leases.Lease) -> tuple[Turn, Recording]:
    """The turn that a lease is for, with its ports, and the tape on which they write down what they are answered."""
    snapshot = conf.load("SNAPSHOT").pin(lease.head)
    clock, tape = TurnClock(lease.now), Recording()
    ports = wiring.ports(clock, store.LiveConversations(lease, request, snapshot), tape, snapshot, request.workspace_id)
    trail = Trail(clock.elapsed_ms, tuple(conf.load_all("TRAIL_LISTENERS")))
    turn = Turn(lease.turn_id, lease.turn_no, request, snapshot, ports, trail)
    turn.verbose_listeners = wiring.verbose_listeners()
    listen(turn, lambda fault: log.warning("progress not told", error=str(fault), exc_info=fault))
    conf.load("LIVE").join(turn)
    if settings.read(snapshot, ON_CONCURRENT_TURN, request.workspace_id).value == "interrupt":
        turn.interrupted = Watch(lease.token)
    turn.time_limit_ms = conf.get("TURN_TIMEOUT_SECONDS") * 1000
    if settings.read(snapshot, catalogue.FLUSH).value == "STEP":
        turn.flush_step = StepFlush(turn, lease)
    return turn, tape


def _kept(key: IdempotencyKey | None, answer: TurnAnswer, wire: Wire | None) -> list[Write]:
    if key is None or wire is None:
        return []
    return [idempotency.kept(key, answer.conversation_id, answer.turn_id, wire(answer))]


def _answer(turn: Turn, lease: leases.Lease, outcome: EngineOutcome) -> TurnAnswer:
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
        lease.conversation,
        lease.now,
        turn.left.request.conversation_id if turn.left else None,
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
