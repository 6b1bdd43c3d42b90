"""take_turn: acquire the lease, pin the configuration, run, commit."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError, OperationalError, connection

from convengine.engine.errors import ConversationPersistFailed, TurnConflict, TurnInterrupted
from convengine.engine.memory.settings import ENABLED as MEMORY_ENABLED
from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.threads.settings import ON_CONCURRENT_TURN
from convengine.engine.turn import audit_settings as catalogue
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import load_column
from convengine.engine.turn.conversation import Loaded, list_exchanges
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.engine.verbose.publish import listen
from convengine.server import wiring
from convengine.server.database.sql import (
    Statement,
    TurnClock,
    describe_fault,
    dialect,
    is_connection_broken,
    release_connections,
)
from convengine.server.deployment import conf
from convengine.server.extensions.faults import ExtensionFault, collect_faults, report_fault
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.live_streams import live_streams
from convengine.server.memory import after_commit
from convengine.server.memory.session_memory import recall_previous_session
from convengine.server.observability.turns import TurnObservation, observe_turn
from convengine.server.resilience.time_left import limit_waits
from convengine.server.sessions.models import CeConversationHistory, CeExtensionFault
from convengine.server.turns import idempotency
from convengine.server.turns.acquire import AlreadyAnswered, Lease, acquire, lease_renewer, select_past
from convengine.server.turns.answer import StoredAnswer, TurnAnswer, make_answer
from convengine.server.turns.commit import DatabaseStepFlush, EndedTurn, commit_turn, record_failure
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.interruption import InterruptionCheck
from convengine.server.turns.watchdog import watchdog

log = structlog.get_logger(__name__)
#: How many tracebacks of one turn are stored.
_MOST_FAULTS = 20
_COMMITTED = (TurnStatus.OK.value, TurnStatus.BLOCKED.value)


def take_turn(
    request: TurnRequest,
    key: IdempotencyKey | None = None,
    opened_by: str | None = None,
) -> TurnAnswer | StoredAnswer:
    """Run one turn and commit it. A call whose key was answered before gets the same answer.

    `opened_by` is the prefix of the API key that calls: it is stored with a conversation that this turn opens.

    Raises errors before a turn exists (TurnInProgress, ConversationNotFound, IdempotencyKeyReused, …) and TurnConflict,
    TurnInterrupted or ConversationPersistFailed when nothing could be stored. An error of the turn itself is in the
    answer, and recorded.
    """
    with observe_turn(request.conversation_id) as observation, _report_database_faults():
        try:
            lease = acquire(request, key, opened_by)
        except AlreadyAnswered as answered:
            observation.is_repeated = True
            return StoredAnswer(answered.body)
        with watchdog.watching(request.conversation_id, lease.turn_no, lease.token):
            return _run(request, lease, key, observation)


def _run(
    request: TurnRequest,
    lease: Lease,
    key: IdempotencyKey | None,
    observation: TurnObservation,
) -> TurnAnswer:
    """Run the turn of an acquired lease, and commit it or record its failure. Raises as `take_turn` does."""
    turn, tape = open_turn(request, lease)
    observation.turn = turn
    with (
        lease_renewer.renewing(lease.token),
        structlog.contextvars.bound_contextvars(conversation_id=request.conversation_id, turn_no=turn.turn_no),
        collect_faults() as faults,
        limit_waits(conf.get("TURN_TIMEOUT_SECONDS")),
        choose_making(Making.BACKGROUND),
    ):
        outcome = observation.outcome = wiring.engine().run(turn)
    answer = make_answer(turn, outcome, lease.conversation, lease.now)
    ended = EndedTurn(turn, lease, outcome, tape)
    try:
        if outcome.error is None:
            statements = []
            # The body is made only where it is stored.
            if key is not None:
                stored = (answer.conversation_id, answer.turn_id, answer.body, lease.now)
                statements = [idempotency.store_answer_stmt(key, *stored)]
            _commit(ended, statements)
        else:
            record_failure(ended)
    except Exception as refused:
        error = refused if isinstance(refused, (TurnConflict, TurnInterrupted)) else ConversationPersistFailed()
        outcome = observation.outcome = EngineOutcome.of_failure(outcome.session, turn, error)
        _record_unstored_turn(replace(ended, outcome=outcome))
        raise
    finally:
        for conversation_id in {request.conversation_id, outcome.session.conversation_id}:
            live_streams().wake(conversation_id)
        if faults:
            _store_faults(turn.turn_id, outcome.session, faults)
    if outcome.error is None and not outcome.stopped and turn.previous_session is None:
        after_commit.schedule_summaries(turn, lease.conversation, outcome.session)
    return answer


def _commit(ended: EndedTurn, answer: Sequence[Statement]) -> None:
    """Commit; if the connection breaks, once more on a new one.

    The lease makes that safe: the first commit may have been stored, unheard, and then the second would find no lease.
    """
    try:
        commit_turn(ended, answer)
    except (OperationalError, InterfaceError) as error:
        if connection.in_atomic_block or not is_connection_broken():
            raise
        turn_id = ended.turn.turn_id
        log.warning("connection lost at the commit", turn_id=turn_id, error=str(error))
        release_connections()
        if not CeConversationHistory.objects.filter(turn_id=turn_id, status__in=_COMMITTED).exists():
            commit_turn(ended, answer)


def _store_faults(turn_id: str, session: Session, faults: Sequence[ExtensionFault]) -> None:
    """Store up to 20 tracebacks of a turn for its page; a turn never fails because of them."""
    try:
        CeExtensionFault.objects.bulk_create(
            CeExtensionFault(conversation_id=session.conversation_id, turn_no=session.turn_no, **asdict(fault))
            for fault in faults[:_MOST_FAULTS]
        )
    except DatabaseError as refused:
        log.warning("tracebacks not stored", turn_id=turn_id, error=str(refused))


def _record_unstored_turn(ended: EndedTurn) -> None:
    """Store the record of a turn that could not be stored, and release the lease, on a new connection.

    If the lease is lost, its new holder has stored the record; if the database is down, the next holder will.
    """
    release_connections()
    try:
        record_failure(ended, "The turn could not be stored, which a replay does not repeat.")
    except Exception as refused:
        log.warning("failed turn not recorded", turn_id=ended.turn.turn_id, error=str(refused))


def open_turn(request: TurnRequest, lease: Lease) -> tuple[Turn, Recording]:
    began = lease.conversation.has_just_begun(lease.previous_turn)
    snapshot, release_choice = configuration().choose(
        lease.head, lease.conversation, lease.last_release, has_just_begun=began
    )
    clock, tape = TurnClock(lease.now), Recording()
    ports = wiring.ports(clock, StoredConversation(lease, snapshot), tape, snapshot, request.workspace_id)
    trail = Trail(clock.elapsed_ms, conf.load_all("TRAIL_LISTENERS"))
    may_interrupt = live_settings.read(snapshot, ON_CONCURRENT_TURN, request.workspace_id).value == "interrupt"
    always = lease.watched or live_settings.read(snapshot, catalogue.FLUSH).value == "STEP"
    turn = Turn(
        lease.turn_id,
        lease.turn_no,
        request,
        snapshot,
        ports,
        trail,
        release_choice=release_choice,
        time_limit_ms=conf.get("TURN_TIMEOUT_SECONDS") * 1000,
        verbose_listeners=(*wiring.verbose_listeners(), partial(live_streams().send_progress, lease.watched)),
        flush_step=DatabaseStepFlush(lease, always),
        interrupted=InterruptionCheck(lease.token) if may_interrupt else None,
        on_fault=report_fault,
    )
    listen(turn, lambda fault: log.warning("progress was not reported", error=str(fault), exc_info=fault))
    return turn, tape


@dataclass
class StoredConversation:
    """The conversations port on the database. Reads once, however often it is called."""

    lease: Lease
    snapshot: Snapshot
    _loaded: Loaded | None = field(default=None, repr=False)

    def load(self) -> Loaded:
        """The conversation as the lease read it, its recent history, oldest first, and the memory of an earlier one."""
        if self._loaded is None:
            row, past = self.lease.conversation, list_exchanges(reversed(self._past()))
            # A session has a memory until its first turn is committed.
            has_memory = not row.turn_count and live_settings.read(self.snapshot, MEMORY_ENABLED).value
            memory = recall_previous_session(row) if has_memory else None
            self._loaded = Loaded(row, past, self.lease.previous_turn, memory, self.lease.created)
        return self._loaded

    def store(self) -> None:
        """Nothing to do: the lease made the row."""

    def _past(self) -> Sequence[tuple[str | None, Any]]:
        """User text and answer of the newest committed turns, newest first; as many as the release allows."""
        limit = live_settings.read(self.snapshot, HISTORY_MAX_TURNS).value
        if limit <= self.lease.past_limit:
            return self.lease.past[:limit]
        # The limit was raised since this process pinned a release: the lease did not read that far.
        row = self.lease.conversation
        with connection.cursor() as cursor:
            cursor.execute(
                select_past("%s", "%s"), [dialect().uuid_param(row.conversation_id), row.context_epoch, limit]
            )
            return [(user, load_column(answer)) for user, answer in cursor.fetchall()]


@contextmanager
def _report_database_faults() -> Iterator[None]:
    """Any fault of the database is one error for the caller; its text goes to the log."""
    try:
        yield
    except DatabaseError as error:
        # A database that is away has nothing to trace; anything else may be a fault of ours.
        is_away = isinstance(error, (OperationalError, InterfaceError))
        log.error("turn not stored", error=describe_fault(error), exc_info=None if is_away else error)
        if not connection.in_atomic_block:
            connection.close()
        raise ConversationPersistFailed() from error
