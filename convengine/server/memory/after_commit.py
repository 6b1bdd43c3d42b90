"""Summaries that a model writes after a committed turn.

A worker does it if there is a broker, else a thread of this process. The turn's lease is released by then. The result
is stored only while no newer turn has begun; its events and model calls belong to the turn, after those that it
committed.
"""

from collections.abc import Callable
from dataclasses import replace

import structlog
from django.db import DatabaseError, connection, transaction

from convengine.engine.memory.stages import MEMORY_LLM_ERROR
from convengine.engine.memory.summary import PURPOSES, is_due, rewrite_summaries
from convengine.engine.redaction import Redaction
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from convengine.server.database.sql import Statement, StatementRefused, dialect, execute_all
from convengine.server.interfaces.turn_log import turn_log
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.jobs.background import background
from convengine.server.jobs.processes import hand_over
from convengine.server.memory.rebuild_turn import rebuild_turn, run_after_turn
from convengine.server.memory.session_memory import store_summary_stmts

log = structlog.get_logger(__name__)
NEWER_TURN = "NEWER_TURN"


def schedule_summaries(turn: Turn, before: Conversation, session: Session) -> None:
    """Have the summaries of a committed turn written, if the settings say so."""
    if is_due(session, turn):
        row = replace(before, version=before.version + 1)
        _run_in_background(turn, lambda: _write_summaries(turn, row, session))


def write_summaries(conversation_id: str, turn_no: int) -> None:
    """Write the summaries of a committed turn that another process ran. Nothing is written twice, or for an old
    turn.
    """
    again = rebuild_turn(conversation_id)
    if again is None or again.turn.turn_no != turn_no or not is_due(again.session, again.turn):
        return
    if turn_reader().has_model_call(again.turn.turn_id, conversation_id, PURPOSES):
        return
    _write_summaries(again.turn, again.row, again.session)


def _run_in_background(turn: Turn, job: Callable[[], None]) -> None:
    """In the background; or at once if another thread would not see the same world or database."""
    if wiring.is_replaced() or connection.in_atomic_block:
        job()
        return

    def hand_over_or_run() -> None:
        if not hand_over("summaries", turn.request.conversation_id, turn.turn_no):
            job()

    # Sending waits for the broker, which the answer must not.
    background.submit(hand_over_or_run)


def _write_summaries(turn: Turn, row: Conversation, session: Session) -> None:
    """`row` is the conversation after the turn."""
    stored = len(turn.trail.events)
    after = run_after_turn(turn, lambda shadow: rewrite_summaries(session, shadow))
    try:
        if after is not session:
            try:
                with transaction.atomic():
                    execute_all([_update_summaries_stmt(turn, row, after), *store_summary_stmts(turn, row, after)])
                    turn_log().add_after_turn(turn, stored)
                return
            except StatementRefused:
                message = "A newer turn began before this was written; it is written after one of the next."
                turn.audit(session, MEMORY_LLM_ERROR, errorCode=NEWER_TURN, message=message)
        with transaction.atomic():
            turn_log().add_after_turn(turn, stored)
    except (DatabaseError, StatementRefused) as error:
        log.warning("summary not stored", turn_id=turn.turn_id, error=str(error))


def _update_summaries_stmt(turn: Turn, row: Conversation, session: Session) -> Statement:
    """The two summaries in the row, while it is unchanged since this turn; a second attempt meets no row."""
    sql = dialect()
    return Statement(
        f"""UPDATE ce_conversation
SET context_json = {sql.json}, context_summary = %s, updated_at = {sql.now()}, version = version + 1
WHERE conversation_id = %s AND last_turn_no = %s AND version = %s AND lease_token IS NULL""",
        [
            dumps(session.context),
            Redaction.of(turn.snapshot).text(session.context_summary),
            sql.uuid_param(session.conversation_id),
            turn.turn_no,
            row.version,
        ],
        must_match=True,
    )
