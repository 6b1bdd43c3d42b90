"""What a caller does to a session beside turns: closes it, tells of a turn handled elsewhere (sessions 10)."""

from contextlib import suppress

from django.db import transaction

from convengine import conf
from convengine.continuity.lifecycle import CLOSED, running
from convengine.continuity.returning import met
from convengine.domain import settings
from convengine.domain.catalogue.session import ON_CONCURRENT_TURN
from convengine.domain.enums import Lifecycle, TurnStatus
from convengine.domain.opening import closing_context, opened
from convengine.domain.payload import TextPayload, stored
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn, TurnRequest
from convengine.errors import ConversationClosed, ConversationNotFound, TurnConflict, TurnInProgress
from convengine.memory.known import context_summary
from convengine.memory.recall import reminded
from convengine.rules.redacting import Redaction
from convengine.sessions import lease as leases
from convengine.sessions import store, turns
from convengine.sessions.clock import database_time
from convengine.sessions.ending import BY_CALL, Seen, end
from convengine.sessions.failed import bury
from convengine.sessions.models import CeConversation
from convengine.sessions.waiting import wait
from convengine.sessions.writes import Refused, together

_EXTERNAL = "EXTERNAL"


def session_of(session_id: str, workspace_id: str) -> CeConversation:
    """The row. Raises ConversationNotFound, also for another workspace's: ids cannot be probed (R53)."""
    row = CeConversation.objects.filter(pk=session_id, workspace_id=workspace_id).first()
    if row is None:
        raise ConversationNotFound("There is no such session.")
    return row


def close(session_id: str, workspace_id: str, reason: str = "closed") -> CeConversation:
    """End a session now, or when the turn that runs is over. A closed one stays as it is.

    Raises ConversationNotFound, TurnInProgress.
    """
    done = _closed(session_id, workspace_id, reason)
    if done or (bury(session_id) and _closed(session_id, workspace_id, reason)):
        return session_of(session_id, workspace_id)
    policy = settings.read(conf.load("SNAPSHOT").current(), ON_CONCURRENT_TURN, workspace_id).value
    if policy == "reject":
        raise TurnInProgress()
    # The turn that ran may have ended the session itself: then it stays as that one left it.
    with suppress(ConversationClosed):
        wait(session_id, lambda ticket: _closed(session_id, workspace_id, reason, ticket), lambda: None)
    return session_of(session_id, workspace_id)


def _closed(session_id: str, workspace_id: str, reason: str, ticket: int | None = None) -> bool:
    row, now = session_of(session_id, workspace_id), database_time()
    seen = Seen(session_id, row.lifecycle, row.last_message_at or row.created_at, row.last_turn_no)
    with transaction.atomic():
        return row.lifecycle in CLOSED or end(seen, Lifecycle.COMPLETE, reason, now, ticket=ticket, by=BY_CALL)


def record_external(
    session_id: str, workspace_id: str, user_message: str | None, answer: str | None, action_type: str | None
) -> CeConversation:
    """Keep a turn that somebody else took: number, count, summary and history go on as after one of ours.

    Raises ConversationNotFound, ConversationClosed, TurnInProgress, TurnConflict.
    """
    row = session_of(session_id, workspace_id)
    request = TurnRequest(session_id, user_message, channel=row.channel, workspace_id=workspace_id)
    lease = leases.take(request)
    turn, _ = turns.opened(request, lease)
    session = Redaction.of(turn.snapshot).session(_after(turn, user_message, answer, action_type))
    note = "The turn was handled elsewhere."
    record = store.TurnRecord(TurnStatus.OK, session, None, replayable=False, replay_note=note, source=_EXTERNAL)
    try:
        events = conf.load("AUDIT_WRITER").writes(turn)
        written, head = store.recorded(turn, record, lease.chain_head)
        together([store.conversation_written(lease, session, head), *events, written])
    except Refused:
        raise TurnConflict() from None
    return session_of(session_id, workspace_id)


def _after(turn: Turn, user_message: str | None, answer: str | None, action_type: str | None) -> Session:
    """The session after the turn of somebody else."""
    loaded = turn.ports.conversations.load()
    session = Session(turn.request.conversation_id, turn.turn_no, user_text=user_message)
    session = met(opened(session, loaded, {}), turn)
    if loaded.memory_recall:
        session = reminded(session, loaded.memory_recall)
    turn.audit(session, Stage.USER_INPUT, text=user_message, inputParamKeys=[], source=_EXTERNAL)
    payload = TextPayload(answer or "")
    session = session.evolve(payload=payload, last_assistant=stored(payload)).with_params({"action_type": action_type})
    turn.audit(session, Stage.ASSISTANT_OUTPUT, output=payload.value, outputFormat="TEXT", responseType=_EXTERNAL)
    session = running(session, turn, "handled_elsewhere")
    turns_so_far = loaded.conversation.turn_count + 1
    session = session.evolve(context_summary=context_summary(session, turn.snapshot, turns_so_far))
    return session.evolve(context=closing_context(session))
