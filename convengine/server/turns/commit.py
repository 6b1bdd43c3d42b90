"""The commit of a turn with the rows of its sessions, or the record of a failure; all or nothing (sessions 7, R2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import DataError, transaction

from convengine.engine.errors import TurnConflict, TurnInterrupted, TurnTimeout
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import CONVERSATION_CREATED
from convengine.engine.text.compare import storable
from convengine.engine.threads.lifecycle import INTERRUPTED, RUNNING, step_lifecycle
from convengine.engine.turn.codec import dumps, to_plain
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.seal import Batch
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import PreviousSession, Turn
from convengine.server.app_interfaces import turn_log
from convengine.server.database.sql import Statement, StatementRefused, dialect, execute, execute_all
from convengine.server.memory import session_memory
from convengine.server.memory.session_memory import delete_units_stmts, store_units_stmts
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.acquire import Lease, renew_lease
from convengine.server.turns.interruption import is_interrupted
from convengine.server.turns.turn_record import TurnRecord, insert_turn_stmt, write_recording


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
        recreate_session(turn, lease, outcome.session)
        return "The conversation was deleted while the turn ran, which a replay does not repeat."

    _write_all(
        _EndedTurn(turn, outcome, tape, TurnStatus.BLOCKED if outcome.stopped else TurnStatus.OK, lease.chain_head),
        lambda head: update_conversation_stmt(lease, outcome.session, head, whatever_came=turn.uninterruptible),
        [
            *session_memory.store_summary_stmts(turn, lease.conversation, outcome.session),
            *store_units_stmts(outcome.session, redaction),
            *answer,
        ],
        recreate_deleted_row,
    )


def _commit_in_next_session(
    turn: Turn,
    previous: PreviousSession,
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
        if not execute(end_session_stmt(lease, redaction.session(previous.session))):
            raise TurnInterrupted() if is_interrupted(lease.token) else TurnConflict()
        insert_next_session(turn, lease, session)
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
        execute(set_chain_head_stmt(session.conversation_id, head))


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
        lambda head: release_lease_stmt(lease, outcome.session, head),
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
            execute(set_chain_head_stmt(ended.outcome.session.conversation_id, head))


def _execute_each(statements: Sequence[Statement]) -> None:
    """Raises TurnConflict when another call with this key committed meanwhile, in another conversation."""
    if not all(execute(statement) or not statement.must_match for statement in statements):
        raise TurnConflict()


def end_session_stmt(lease: Lease, session: Session) -> Statement:
    """The row of the session that a turn ended; matches no row when the lease was lost."""
    sql = dialect()
    return Statement(
        f"""UPDATE ce_conversation
SET lifecycle = %s, lifecycle_detail = {sql.json}, updated_at = {sql.now()}, version = version + 1,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s AND lease_interrupted_by IS NULL""",
        [
            session.lifecycle,
            dumps(session.lifecycle_detail),
            sql.uuid_param(session.conversation_id),
            sql.uuid_param(lease.token),
            lease.conversation.version,
        ],
        must_match=True,
    )


def insert_next_session(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row of the session that the turn goes on in. Needs an open transaction, with the old one closed."""
    _insert_session(
        turn, replace(lease.conversation, version=-1, turn_count=0), session, lease.conversation.conversation_id
    )


def recreate_session(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row again when it was deleted during the turn. Needs an open transaction (pipeline-1 5).

    Raises TurnConflict when it exists: the lease was lost, or the row changed.
    """
    if CeConversation.objects.filter(pk=session.conversation_id).exists():
        raise TurnConflict()
    _insert_session(turn, lease.conversation, session)
    turn.audit(session, CONVERSATION_CREATED, conversationId=session.conversation_id, reason="recreated")


def _insert_session(turn: Turn, row: Conversation, session: Session, previous: str | None = None) -> None:
    """The row after this turn; `row` is the one that it read."""
    now = turn.ports.clock.now()
    CeConversation.objects.create(
        conversation_id=session.conversation_id,
        status=session.status,
        intent_code=session.intent or UNKNOWN,
        state_code=session.state or UNKNOWN,
        context_json=to_plain(session.context),
        input_params_json=to_plain(keep_persistent(session.input_params)),
        last_user_text=session.user_text and storable(session.user_text),
        last_assistant_json=to_plain(session.last_assistant),
        created_at=now,
        updated_at=now,
        version=row.version + 1,
        last_turn_no=turn.turn_no,
        turn_count=row.turn_count + 1,
        context_epoch=session.epoch,
        context_summary=storable(session.context_summary),
        preferences=to_plain(session.preferences),
        lifecycle=session.lifecycle,
        lifecycle_detail=to_plain(session.lifecycle_detail),
        mounted_kb_id=session.mounted_kb_id,
        workspace_id=row.workspace_id,
        channel=row.channel,
        remote_jid=row.remote_jid,
        last_message_at=now,
        previous_session_id=previous,
        # A change of topic does not change whose conversation it is.
        opened_by=CeConversation.objects.filter(pk=previous).values_list("opened_by", flat=True).first()
        if previous
        else None,
    )


def update_conversation_stmt(lease: Lease, session: Session, head: bytes, *, whatever_came: bool = False) -> Statement:
    """The conversation row after the turn, with the lease released. `head` is the hash of the turn's seal.

    It meets no row when the lease was lost, the row changed or was deleted, or a newer message interrupted the turn;
    with `whatever_came` the interruption does not count.
    """
    sql, before = dialect(), lease.conversation
    rare: dict[str, Any] = {"status = %s": session.status} if session.status != before.status else {}
    if session.preferences != before.preferences:
        rare[f"preferences = {sql.json}"] = dumps(session.preferences)
    if session.mounted_kb_id != before.mounted_kb_id:
        rare["mounted_kb_id = %s"] = session.mounted_kb_id
    stands = (session.lifecycle, session.lifecycle_detail)
    if whatever_came or stands != (before.lifecycle, before.lifecycle_detail):
        rare |= {"lifecycle = %s": session.lifecycle, f"lifecycle_detail = {sql.json}": dumps(stands[1])}
    unless = "" if whatever_came else " AND lease_interrupted_by IS NULL"
    return Statement(
        f"""UPDATE ce_conversation
SET intent_code = %s, state_code = %s, context_json = {sql.json}, input_params_json = {sql.json}, last_user_text = %s,
    last_assistant_json = {sql.json}, context_epoch = %s, context_summary = %s, {"".join(f"{name}, " for name in rare)}
    updated_at = {sql.now()}, version = version + 1, turn_count = turn_count + 1, chain_head = %s,
    lease_token = NULL, lease_expires_at = NULL, lease_info = NULL, lease_interrupted_by = NULL
WHERE conversation_id = %s AND lease_token = %s AND version = %s{unless}""",
        [
            session.intent or "UNKNOWN",
            session.state or "UNKNOWN",
            dumps(session.context),
            dumps(keep_persistent(session.input_params)),
            session.user_text,
            dumps(session.last_assistant),
            session.epoch,
            session.context_summary,
            *rare.values(),
            head,
            sql.uuid_param(session.conversation_id),
            sql.uuid_param(lease.token),
            before.version,
        ],
        must_match=True,
    )


def release_lease_stmt(lease: Lease, session: Session, head: bytes) -> Statement:
    """Release the lease after a failed turn; meets no row when the lease was lost.

    The conversation stays unchanged, except for a reset: the user asked to be freed from the old state.
    """
    sql = dialect()
    reset = ""
    params: list[Any] = []
    if session.reset_reason:
        reset = (
            "status = 'RUNNING', intent_code = 'UNKNOWN', state_code = 'UNKNOWN', context_json = '{}', "
            f"input_params_json = '{{}}', last_assistant_json = NULL, context_epoch = %s, updated_at = {sql.now()}, "
            "version = version + 1, "
        )
        params.append(session.epoch)
    return Statement(
        f"UPDATE ce_conversation SET {reset}chain_head = %s, lease_token = NULL, lease_expires_at = NULL, "
        "lease_info = NULL, lease_interrupted_by = NULL "
        "WHERE conversation_id = %s AND lease_token = %s",
        [*params, head, sql.uuid_param(session.conversation_id), sql.uuid_param(lease.token)],
        must_match=True,
    )


def set_chain_head_stmt(conversation_id: str, head: bytes) -> Statement:
    """Set the hash of the row's newest seal, if it was not known when the rest was written."""
    return Statement(
        "UPDATE ce_conversation SET chain_head = %s WHERE conversation_id = %s",
        [head, dialect().uuid_param(conversation_id)],
        must_match=True,
    )
