"""The commit of a turn, or the record of one that failed: all or nothing (sessions 7, R2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from django.db import DataError, transaction

from convengine.engine.errors import TurnConflict, TurnInterrupted, TurnTimeout
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.rules.redaction import Redaction
from convengine.engine.threads.lifecycle import INTERRUPTED, RUNNING, step_lifecycle
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.seal import Batch
from convengine.engine.turn.turn import PreviousSession, Turn
from convengine.server.app_interfaces import turn_log
from convengine.server.database.statements import Statement, StatementRefused, execute, execute_all
from convengine.server.memory import session_memory
from convengine.server.memory.units import delete_units_stmts, store_units_stmts
from convengine.server.turns import session_rows
from convengine.server.turns.interruption import is_interrupted
from convengine.server.turns.lease import Lease, renew_lease
from convengine.server.turns.recording import write_recording
from convengine.server.turns.turn_record import TurnRecord, insert_turn_stmt


@dataclass
class StepFlush:
    """AUDIT/FLUSH = STEP: each step's events at once, in their own transaction (R2).

    Raises TurnConflict when the lease was lost: the new holder has written the end of this turn's events.
    """

    turn: Turn
    lease: Lease
    stored: int = 0

    def __call__(self) -> None:
        """Store what is not stored yet. A turn that went on in a new session stores all its events with that one."""
        if self.turn.previous_session:
            return
        with transaction.atomic():
            if not renew_lease(self.lease.token):
                raise TurnConflict()
            for statement in turn_log().events(self.turn, self.stored):
                execute(statement)
        self.stored = len(self.turn.trail.events)
        self.turn.model_calls_stored = len(self.turn.model_calls)


def commit_turn(turn: Turn, lease: Lease, outcome: EngineOutcome, tape: Recording, answer: Sequence[Statement]) -> None:
    """Commit everything at once: conversation, turn record, audit, deciding rows, the stored `answer` (sessions 7).

    Raises TurnConflict, and TurnInterrupted when a newer message came in time to stop the turn.
    """
    redaction = Redaction.of(turn.snapshot)
    outcome = replace(outcome, session=redaction.session(outcome.session))
    if turn.previous_session:
        _commit_in_next_session(turn, turn.previous_session, lease, outcome, tape, answer)
        return

    def recreate_deleted_row() -> str:
        if is_interrupted(lease.token):
            raise TurnInterrupted()
        session_rows.recreate_session(turn, lease, outcome.session)
        return "The conversation was deleted while the turn ran, which a replay does not repeat."

    _write_all(
        _EndedTurn(turn, outcome, tape, TurnStatus.BLOCKED if outcome.stopped else TurnStatus.OK, lease.chain_head),
        lambda head: session_rows.update_conversation_stmt(
            lease, outcome.session, head, whatever_came=turn.uninterruptible
        ),
        [
            *session_memory.store_summary_stmts(turn, lease.conversation, outcome.session),
            *store_units_stmts(outcome.session, redaction),
            *answer,
        ],
        recreate_deleted_row,
    )


def _commit_in_next_session(
    turn: Turn,
    left: PreviousSession,
    lease: Lease,
    outcome: EngineOutcome,
    tape: Recording,
    answer: Sequence[Statement],
) -> None:
    """The same for a turn that ended one session and began the next: both rows change at once (R40)."""
    writer, session, redaction = turn_log(), outcome.session, Redaction.of(turn.snapshot)
    more = [
        *session_memory.store_summary_stmts(turn, lease.conversation, session),
        *store_units_stmts(session, redaction),
        *answer,
    ]
    with transaction.atomic():
        if not execute(session_rows.end_session_stmt(lease, redaction.session(left.session))):
            raise TurnInterrupted() if is_interrupted(lease.token) else TurnConflict()
        session_rows.insert_next_session(turn, lease, session)
        _execute_each(more)
        try:
            with transaction.atomic():
                statements, batches = writer.writes(turn)
                for statement in statements:
                    execute(statement)
            lost_events = 0
        except DataError:
            batches, lost_events = writer.write_with_care(turn)
        insert_turn, head = _EndedTurn(turn, outcome, tape, TurnStatus.OK, None).insert_stmt(batches, lost_events)
        execute(insert_turn)
        execute(session_rows.set_chain_head_stmt(session.conversation_id, head))


def record_failure(turn: Turn, lease: Lease, outcome: EngineOutcome, tape: Recording, note: str | None = None) -> None:
    """The turn record and the events of a turn that failed; the conversation stays unchanged."""

    def report_lost_lease() -> str:
        raise TurnConflict()

    status = TurnStatus.INTERRUPTED if isinstance(outcome.error, TurnInterrupted) else TurnStatus.FAILED
    # A turn may fail for another reason before it sees the interruption.
    if status is TurnStatus.INTERRUPTED or (turn.interrupted and is_interrupted(lease.token)):
        # A session whose turn runs counts as RUNNING, whatever its row says (R29).
        step_lifecycle(outcome.session.evolve(lifecycle=RUNNING.value), turn, INTERRUPTED, "interrupted")
    outcome = replace(outcome, session=Redaction.of(turn.snapshot).session(outcome.session))
    _write_all(
        _EndedTurn(turn, outcome, tape, status, lease.chain_head, note),
        lambda head: session_rows.release_lease_stmt(lease, outcome.session, head),
        delete_units_stmts(outcome.session),
        report_lost_lease,
    )


@dataclass(frozen=True)
class _EndedTurn:
    """A turn that ran, and its record."""

    turn: Turn
    outcome: EngineOutcome
    tape: Recording
    status: TurnStatus
    #: The hash of the seal before this one; null for the first of a conversation.
    previous: bytes | None
    #: Why the turn cannot be replayed, if known already.
    note: str | None = None

    def insert_stmt(
        self, batches: Sequence[Batch], lost_events: int = 0, note: str | None = None
    ) -> tuple[Statement, bytes]:
        """The statement of the turn record, and the hash of its seal, which covers it and the `batches`.

        `note` says why the turn cannot be replayed, if it cannot.
        """
        note = note or self.note
        data, masked = write_recording(self.turn, self.tape, Redaction.of(self.turn.snapshot))
        if isinstance(self.outcome.error, TurnTimeout):
            note = "The turn ended because its time was over, which a replay does not repeat."
        if isinstance(self.outcome.error, TurnInterrupted):
            note = "A newer message interrupted the turn, which a replay does not repeat."
        note = note or masked
        return insert_turn_stmt(
            self.turn,
            TurnRecord(
                self.status,
                self.outcome.session,
                data,
                replayable=note is None,
                replay_note=note,
                error=self.outcome.error,
                audit_incomplete=bool(lost_events),
            ),
            self.previous,
            batches,
        )


def _write_all(
    ended: _EndedTurn,
    conversation_stmt: Callable[[bytes], Statement],
    more: Sequence[Statement],
    on_row_missing: Callable[[], str],
) -> None:
    """Write all or nothing. If the database refuses it, try once more event by event (R2).

    `conversation_stmt` builds the statement of the conversation's row from the hash of the turn's seal. When it matches
    no row, `on_row_missing` is called; it says why the turn cannot be replayed, or raises.
    """
    writer, turn = turn_log(), ended.turn
    already = turn.flush_step.stored if turn.flush_step else 0
    events, batches = writer.writes(turn, already)
    insert_turn, head = ended.insert_stmt(batches)
    try:
        execute_all([conversation_stmt(head), *more, *events, insert_turn])
    except StatementRefused:
        with transaction.atomic():
            note = None
            if not execute(conversation_stmt(head)):
                note, ended = on_row_missing(), replace(ended, previous=None)
            _execute_each(more)
            batches, lost_events = writer.write_with_care(turn, already)
            insert_turn, head = ended.insert_stmt(batches, lost_events, note)
            execute(insert_turn)
            execute(session_rows.set_chain_head_stmt(ended.outcome.session.conversation_id, head))


def _execute_each(statements: Sequence[Statement]) -> None:
    """Raises TurnConflict when another call with this key committed meanwhile, in another conversation."""
    if not all(execute(statement) or not statement.must_match for statement in statements):
        raise TurnConflict()
