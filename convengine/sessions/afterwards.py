"""After the answer: what a model writes of a turn that is committed (R90, pipeline-2 10.1).

A worker does it where there is a broker, else a thread of this process. The turn's lease is gone by then. What is
written stands only while no newer turn has begun; the events and model calls of the writing are the turn's own, behind
those that it committed.
"""

from collections.abc import Callable
from dataclasses import replace

import structlog
from django.db import DatabaseError, connection, transaction

from convengine import conf, wiring
from convengine.codec import dumps
from convengine.domain.conversation import Conversation
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.memory.rewriting import PURPOSES, due, rewritten
from convengine.rules.redacting import Redaction
from convengine.sessions.again import behind, put_together
from convengine.sessions.background import background
from convengine.sessions.lease import Lease
from convengine.sessions.memory import remembered
from convengine.sessions.sql import dialect
from convengine.sessions.writes import Refused, Write, together

log = structlog.get_logger(__name__)
NEWER_TURN = "NEWER_TURN"


def offer(turn: Turn, lease: Lease, session: Session) -> None:
    """Have the summaries of a committed turn written, where the settings want that."""
    if due(session, turn):
        row = replace(lease.conversation, version=lease.conversation.version + 1)
        _later(turn, lambda: _write(turn, row, session))


def write_of(conversation_id: str, turn_no: int) -> None:
    """Write the summaries of a committed turn that another process ran. Nothing is written twice, or of an old turn."""
    again = put_together(conversation_id)
    if again is None or again.turn.turn_no != turn_no or not due(again.session, again.turn):
        return
    if conf.load("AUDIT_WRITER").asked_for(again.turn.turn_id, conversation_id, PURPOSES):
        return
    _write(again.turn, again.row, again.session)


def _later(turn: Turn, job: Callable[[], None]) -> None:
    """In the background; at once where another thread would not see the same world or database."""
    if wiring.is_replaced() or connection.in_atomic_block:
        job()
        return

    def handed_over_or_done() -> None:
        if not conf.load("HAND_OVER")("summaries", turn.request.conversation_id, turn.turn_no):
            job()

    # Handing over waits for the broker, which the answer must not.
    background.submit(handed_over_or_done)


def _write(turn: Turn, row: Conversation, session: Session) -> None:
    """`row` is the conversation as the turn left it."""
    stored, turn.model_calls_stored = len(turn.trail.events), len(turn.model_calls)
    after = behind(turn, lambda shadow: rewritten(session, shadow))
    writer = conf.load("AUDIT_WRITER")
    try:
        if after is not session:
            try:
                with transaction.atomic():
                    together([_conversation(turn, row, after), *remembered(turn, row, after)])
                    writer.added(turn, stored)
                return
            except Refused:
                message = "A newer turn began before this was written; it is written after one of the next."
                turn.audit(session, Stage.MEMORY_LLM_ERROR, errorCode=NEWER_TURN, message=message)
        with transaction.atomic():
            writer.added(turn, stored)
    except (DatabaseError, Refused) as error:
        log.warning("summary not stored", turn_id=turn.turn_id, error=str(error))


def _conversation(turn: Turn, row: Conversation, session: Session) -> Write:
    """The two summaries in the row, while it is as this turn left it; whoever would write them again meets no row."""
    here = dialect()
    return Write(
        f"""UPDATE ce_conversation
SET context_json = {here.json}, context_summary = %s, updated_at = {here.now()}, version = version + 1
WHERE conversation_id = %s AND last_turn_no = %s AND version = %s AND lease_token IS NULL""",
        [
            dumps(session.context),
            Redaction.of(turn.snapshot).text(session.context_summary),
            here.uuid(session.conversation_id),
            turn.turn_no,
            row.version,
        ],
        must=True,
    )
