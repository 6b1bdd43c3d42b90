"""The commit of a turn with the rows of its sessions, or the record of a failure; all or nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from convengine.engine.cached_property import cached_property
from convengine.engine.errors import TurnConflict, TurnInterrupted, TurnTimeout
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import CONVERSATION_CREATED
from convengine.engine.threads.lifecycle import INTERRUPTED, RUNNING, step_lifecycle
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import Conversation, build_columns
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server.database.sql import Statement, StatementRefused, dialect, execute, execute_all
from convengine.server.interfaces.live_streams import live_streams
from convengine.server.interfaces.turn_log import TurnRecord, turn_log
from convengine.server.memory import session_memory
from convengine.server.memory.session_memory import delete_units_stmts, store_units_stmts
from convengine.server.sessions.models import FREE_LEASE, TURN, CeConversation
from convengine.server.turns.acquire import Lease, lease_renewer, renew_lease
from convengine.server.turns.interruption import is_interrupted
from convengine.server.turns.stored_recording import write_recording
from convengine.server.webhooks.send import wake_sender
from convengine.server.webhooks.write import insert_webhook_events_stmts


@dataclass
class DatabaseStepFlush:
    """Stores each step's events at once, in their own transaction, for readers of the running turn.

    Raises TurnConflict when the lease was lost: the new holder has written the record of this turn.
    """

    lease: Lease
    #: Store them even while nobody is known to read them.
    always: bool = True
    stored: int = 0

    def __call__(self, turn: Turn) -> None:
        """Store the events that are not stored yet, if they are wanted.

        A turn that went on in a new session stores all its events at its commit.
        """
        if turn.previous_session or self.stored == len(turn.trail.events):
            return
        is_watched = self.always or live_streams().watches(turn.request.conversation_id)
        if not is_watched and not lease_renewer.is_watched(self.lease.token):
            return
        with transaction.atomic():
            is_lost = renew_lease(self.lease.token) is None
            if is_lost or not turn_log().flush_events(turn, self.lease.token, self.stored):
                raise TurnConflict()
        self.stored = len(turn.trail.events)
        live_streams().wake(turn.request.conversation_id)


@dataclass(frozen=True)
class EndedTurn:
    """A turn that ran, and what its commit needs: its lease, how it ended, and the tape of its ports."""

    turn: Turn
    lease: Lease
    outcome: EngineOutcome
    tape: Recording

    @cached_property
    def session(self) -> Session:
        """Its session as it is stored: with masks."""
        return Redaction.of(self.turn.snapshot).session(self.outcome.session)

    @property
    def _status(self) -> TurnStatus:
        if self.outcome.error is None:
            return TurnStatus.BLOCKED if self.outcome.is_blocked else TurnStatus.OK
        return TurnStatus.INTERRUPTED if isinstance(self.outcome.error, TurnInterrupted) else TurnStatus.FAILED

    def insert_stmts(self, previous: bytes | None, note: str | None = None) -> tuple[list[Statement], bytes]:
        """The statements of the turn's row and its index, and the hash of its seal.

        `previous` is the hash of the seal before it. `note` says why the turn cannot be replayed, if it cannot; a
        timeout and an interruption have notes of their own.
        """
        turn, error = self.turn, self.outcome.error
        recording, masked = write_recording(turn, self.tape, Redaction.of(turn.snapshot))
        if isinstance(error, TurnTimeout):
            note = "The turn ended because its time was over, which a replay does not repeat."
        if isinstance(error, TurnInterrupted):
            note = "A newer message interrupted the turn, which a replay does not repeat."
        record = TurnRecord(self._status, self.session, TURN, recording, note or masked, error)
        inserts, head = turn_log().insert_turn_stmts(turn, record, previous)
        was_flushed = turn.flush_step is not None and turn.flush_step.stored > 0
        running = [turn_log().delete_running_stmt(self.lease.token)] if was_flushed else []
        return [*inserts, *running], head


def commit_turn(ended: EndedTurn, answer: Sequence[Statement]) -> None:
    """Commit everything at once: conversation, turn record, its events, summary, units, webhook deliveries.

    `answer` has the statements that store the answer with its idempotency key.
    Raises TurnConflict, and TurnInterrupted when a newer message came in time to stop the turn.
    """
    turn, lease, session = ended.turn, ended.lease, ended.session
    events = insert_webhook_events_stmts(turn, lease.conversation, session)
    others = [
        *session_memory.store_summary_stmts(turn, lease.conversation, session),
        *store_units_stmts(session, Redaction.of(turn.snapshot)),
        *answer,
        *events,
    ]

    def recreate_deleted_row() -> str:
        if is_interrupted(lease.token):
            raise TurnInterrupted()
        recreate_session(turn, lease, session)
        return "The conversation was deleted while the turn ran, which a replay does not repeat."

    if turn.previous_session:
        _commit_in_next_session(ended, turn.previous_session, others)
    else:
        _write_all(
            ended,
            lambda head: update_conversation_stmt(lease, session, head, whatever_came=turn.uninterruptible),
            others,
            recreate_deleted_row,
        )
    if events:
        wake_sender()


def _commit_in_next_session(ended: EndedTurn, previous: Session, others: Sequence[Statement]) -> None:
    """Commit a turn that ended one session and began the next: both rows change at once.

    Raises TurnInterrupted or TurnConflict when the row of the previous session may not be changed any more.
    """
    turn, lease = ended.turn, ended.lease
    previous = Redaction.of(turn.snapshot).session(previous)
    with transaction.atomic():
        if not execute(end_session_stmt(lease, previous, whatever_came=turn.uninterruptible)):
            raise TurnInterrupted() if is_interrupted(lease.token) else TurnConflict()
        insert_next_session(turn, lease, ended.session)
        _execute_each(others)
        statements, head = ended.insert_stmts(None)
        _execute_each([*statements, set_chain_head_stmt(ended.session.conversation_id, head)])


def record_failure(ended: EndedTurn, note: str | None = None) -> None:
    """Store the record and the events of a failed turn, and release its lease. Only a reset changes the conversation.

    `note` says why the turn cannot be replayed, if it cannot. Raises TurnConflict when the lease was lost.
    """
    turn, session, token = ended.turn, ended.outcome.session, ended.lease.token

    def report_lost_lease() -> str:
        raise TurnConflict()

    # A turn may fail for another reason before it sees the interruption.
    if isinstance(ended.outcome.error, TurnInterrupted) or (turn.interrupted and is_interrupted(token)):
        # A session whose turn runs counts as RUNNING, whatever its row says.
        step_lifecycle(session.evolve(lifecycle=RUNNING.value), turn, INTERRUPTED, "interrupted")
    _write_all(
        ended,
        lambda head: release_lease_stmt(ended.lease, ended.session, head),
        delete_units_stmts(ended.session),
        report_lost_lease,
        note,
    )


def _write_all(
    ended: EndedTurn,
    conversation_stmt: Callable[[bytes], Statement],
    more: Sequence[Statement],
    on_row_missing: Callable[[], str],
    note: str | None = None,
) -> None:
    """Write all or nothing.

    `conversation_stmt` builds the statement of the conversation's row from the hash of the turn's seal. When it matches
    no row, `on_row_missing` is called; it says why the turn cannot be replayed, or raises.
    """
    statements, head = ended.insert_stmts(ended.lease.chain_head, note)
    try:
        execute_all([conversation_stmt(head), *more, *statements])
    except StatementRefused:
        with transaction.atomic():
            if not execute(conversation_stmt(head)):
                statements, head = ended.insert_stmts(None, on_row_missing())
            _execute_each([*more, *statements, set_chain_head_stmt(ended.session.conversation_id, head)])


def _execute_each(statements: Sequence[Statement]) -> None:
    """Execute the statements in order. Raises TurnConflict when one that must match a row matches none.

    Such a case: another call with the same key committed meanwhile, in another conversation.
    """
    if not all(execute(statement) or not statement.must_match for statement in statements):
        raise TurnConflict()


def end_session_stmt(lease: Lease, session: Session, *, whatever_came: bool = False) -> Statement:
    """The row of the session that a turn ended, with the lease released.

    It meets no row when the lease was lost, the row changed or was deleted, or a newer message came; with
    `whatever_came` the newer message does not count.
    """
    sql = dialect()
    unless = "" if whatever_came else " AND lease_interrupted_by IS NULL"
    return Statement(
        f"""UPDATE ce_conversation
SET lifecycle = %s, lifecycle_detail = {sql.json}, updated_at = {sql.now()}, version = version + 1,
    {FREE_LEASE}
WHERE conversation_id = %s AND lease_token = %s AND version = %s{unless}""",
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
    """Insert the row of the session that the turn goes on in. Needs an open transaction that ended the old session."""
    _insert_session(
        turn, replace(lease.conversation, version=-1, turn_count=0), session, lease.conversation.conversation_id
    )


def recreate_session(turn: Turn, lease: Lease, session: Session) -> None:
    """Make the row again when it was deleted during the turn. Needs an open transaction.

    Raises TurnConflict when it exists: the lease was lost, or the row changed.
    """
    if CeConversation.objects.filter(pk=session.conversation_id).exists():
        raise TurnConflict()
    _insert_session(turn, lease.conversation, session)
    turn.audit(session, CONVERSATION_CREATED, conversationId=session.conversation_id, reason="recreated")


def _insert_session(turn: Turn, row: Conversation, session: Session, previous: str | None = None) -> None:
    """Insert the row of a session as it is after this turn. `row` is the one that the turn read.

    `previous` is the id of the session that the turn ended, if it ended one; the new row has the same opener.
    """
    now = turn.ports.clock.now()
    CeConversation.objects.create(
        **build_columns(session),
        conversation_id=session.conversation_id,
        created_at=now,
        updated_at=now,
        version=row.version + 1,
        last_turn_no=session.turn_no,
        turn_count=row.turn_count + 1,
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
    with `whatever_came` the interruption does not count, and its mark in the lifecycle is overwritten.
    """
    sql, before = dialect(), lease.conversation
    rare: dict[str, Any] = {"status = %s": session.status} if session.status != before.status else {}
    if session.preferences != before.preferences:
        rare[f"preferences = {sql.json}"] = dumps(session.preferences)
    if session.mounted_kb_id != before.mounted_kb_id:
        rare["mounted_kb_id = %s"] = session.mounted_kb_id
    lifecycle_after = (session.lifecycle, session.lifecycle_detail)
    if whatever_came or lifecycle_after != (before.lifecycle, before.lifecycle_detail):
        rare |= {"lifecycle = %s": session.lifecycle, f"lifecycle_detail = {sql.json}": dumps(lifecycle_after[1])}
    unless = "" if whatever_came else " AND lease_interrupted_by IS NULL"
    return Statement(
        f"""UPDATE ce_conversation
SET intent_code = %s, state_code = %s, context_json = {sql.json}, input_params_json = {sql.json}, last_user_text = %s,
    last_assistant_json = {sql.json}, context_epoch = %s, context_summary = %s, {"".join(f"{name}, " for name in rare)}
    updated_at = {sql.now()}, version = version + 1, turn_count = turn_count + 1, chain_head = %s,
    {FREE_LEASE}
WHERE conversation_id = %s AND lease_token = %s AND version = %s{unless}""",
        [
            session.intent or UNKNOWN,
            session.state or UNKNOWN,
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
        f"UPDATE ce_conversation SET {reset}chain_head = %s, {FREE_LEASE} "
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
