"""After the answer: what a model writes of a turn that is committed (R90, pipeline-2 10.1).

The turn's lease is gone by then. What is written stands only while no newer turn has begun; the events and model calls
of the writing are the turn's own, behind those that it committed.
"""

from collections.abc import Callable
from dataclasses import replace

import structlog
from django.db import DatabaseError, connection

from convengine import conf, wiring
from convengine.codec import dumps
from convengine.domain.session import Session
from convengine.domain.stages import AFTER_THE_ANSWER, Stage
from convengine.domain.trail import Trail
from convengine.domain.turn import Turn
from convengine.memory.rewriting import due, rewritten
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
        _later(lambda: _write(turn, lease, session))


def _later(job: Callable[[], None]) -> None:
    """In the background; at once where another thread would not see the same world or database."""
    if wiring.is_replaced() or connection.in_atomic_block:
        job()
    else:
        background.submit(job)


def _write(turn: Turn, lease: Lease, session: Session) -> None:
    stored, turn.model_calls_stored = len(turn.trail.events), len(turn.model_calls)
    after = _rewritten(session, turn)
    writer = conf.load("AUDIT_WRITER")
    try:
        if after is not session:
            try:
                kept = [_conversation(turn, lease, after), *remembered(turn, lease.conversation, after)]
                together([*kept, *writer.events(turn, stored)])
                return
            except Refused:
                message = "A newer turn began before this was written; it is written after one of the next."
                turn.audit(session, Stage.MEMORY_LLM_ERROR, errorCode=NEWER_TURN, message=message)
        if events := writer.events(turn, stored):
            together(events)
    except (DatabaseError, Refused) as error:
        log.warning("summary not stored", turn_id=turn.turn_id, error=str(error))


def _rewritten(session: Session, turn: Turn) -> Session:
    """What the model makes of the session. Of what that tells, the turn's trail gets the stages that replays know."""
    shadow = replace(turn, trail=Trail(turn.ports.clock.elapsed_ms))
    after = rewritten(session, shadow)
    for event in shadow.trail.events:
        if event.stage in AFTER_THE_ANSWER:
            turn.trail.add(event.session, Stage(event.stage), event.payload)
    return after


def _conversation(turn: Turn, lease: Lease, session: Session) -> Write:
    """The two summaries in the row, while it is as this turn left it."""
    here = dialect()
    return Write(
        f"""UPDATE ce_conversation SET context_json = {here.json}, context_summary = %s, updated_at = {here.now()}
WHERE conversation_id = %s AND last_turn_no = %s AND version = %s AND lease_token IS NULL""",
        [
            dumps(session.context),
            session.context_summary,
            here.uuid(session.conversation_id),
            turn.turn_no,
            lease.conversation.version + 1,
        ],
        must=True,
    )
