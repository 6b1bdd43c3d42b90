"""What callers do to a session without a turn: they close it, or record a turn handled elsewhere."""

from collections.abc import Callable
from functools import partial

from django.db import transaction

from convengine.engine.errors import ConversationNotFound, TurnConflict, TurnInProgress
from convengine.engine.memory.context_summary import build_context_summary
from convengine.engine.memory.summary import set_recall
from convengine.engine.redaction import Redaction
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.threads.lifecycle import CLOSED, ensure_running
from convengine.engine.threads.resume import resume_session
from convengine.engine.threads.settings import ON_CONCURRENT_TURN
from convengine.engine.turn import live_settings
from convengine.engine.turn.conversation import build_closing_context, restore_session
from convengine.engine.turn.dialogue_state import update_dialogue
from convengine.engine.turn.enums import Lifecycle, TurnStatus
from convengine.engine.turn.payload import TextPayload, to_document
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import ASSISTANT_OUTPUT
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.json_value import Json
from convengine.server.database.sql import StatementRefused, database_time, execute_all
from convengine.server.interfaces.configuration import configuration
from convengine.server.interfaces.turn_log import TurnRecord, turn_log
from convengine.server.sessions.models import CLOSED_BY_CALL, EXTERNAL, CeConversation, external_answer_listeners
from convengine.server.threads.end_session import ObservedSession, end_session
from convengine.server.turns.acquire import AlreadyAnswered, acquire
from convengine.server.turns.commit import update_conversation_stmt
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.turns.idempotency import IdempotencyKey, store_answer_stmt
from convengine.server.turns.take_turn import open_turn
from convengine.server.turns.waiting import LAST_TICKET, wait_for_lease


def get_session(session_id: str, workspace_id: str) -> CeConversation:
    """The row. Raises ConversationNotFound, also for another workspace's, so that ids cannot be probed."""
    row = CeConversation.objects.filter(pk=session_id, workspace_id=workspace_id).first()
    if row is None:
        raise ConversationNotFound("This session does not exist.")
    return row


def close_session(session_id: str, workspace_id: str, reason: str = "closed") -> CeConversation:
    """End a session now, or when the running turn is over. A closed one stays unchanged.

    Raises ConversationNotFound, TurnInProgress.
    """
    reason = Redaction.of(configuration().current()).text(reason)
    closed = _try_to_close(session_id, workspace_id, reason)
    if closed or (recover_expired_lease(session_id) and _try_to_close(session_id, workspace_id, reason)):
        return get_session(session_id, workspace_id)
    policy = live_settings.read(configuration().current(), ON_CONCURRENT_TURN, workspace_id).value
    if policy == "reject":
        raise TurnInProgress()
    # The running turn may have ended the session itself: then it stays like that.
    wait_for_lease(session_id, partial(_try_to_close, session_id, workspace_id, reason))
    return get_session(session_id, workspace_id)


def _try_to_close(session_id: str, workspace_id: str, reason: str, ticket: int = LAST_TICKET) -> bool:
    row, now = get_session(session_id, workspace_id), database_time()
    seen = ObservedSession(session_id, row.lifecycle, row.last_message_at or row.created_at, row.last_turn_no)
    with transaction.atomic():
        return row.lifecycle in CLOSED or end_session(
            seen, Lifecycle.COMPLETE, reason, now, ticket=ticket, by=CLOSED_BY_CALL
        )


def record_external_turn(
    session_id: str, workspace_id: str, user_message: str | None, answer: str | None, action_type: str | None
) -> CeConversation:
    """Record a turn that another system handled: number, count, summary and history go on as after one of ours.

    Raises ConversationNotFound, ConversationClosed, TurnInProgress, TurnConflict.
    """

    def note_user(session: Session, turn: Turn) -> Session:
        turn.audit(session, USER_INPUT, text=user_message, inputParamKeys=[], source=EXTERNAL)
        return session.with_params({"action_type": action_type})

    store_external_turn(session_id, workspace_id, user_message, answer, note_user)
    return get_session(session_id, workspace_id)


def store_external_turn(
    session_id: str,
    workspace_id: str,
    message: str | None,
    answer: str | None,
    change: Callable[[Session, Turn], Session],
    key: IdempotencyKey | None = None,
) -> dict[str, Json]:
    """Store a turn that the engine did not run; `change` does what is special about it.

    Returns its conversation and number; of a repeated call, those of the first. Raises as `record_external_turn`.
    """
    row = get_session(session_id, workspace_id)
    request = TurnRequest(session_id, message, channel=row.channel, workspace_id=workspace_id)
    try:
        lease = acquire(request, key)
    except AlreadyAnswered as answered:
        return dict(answered.body)
    turn, _ = open_turn(request, lease)
    body: dict[str, Json] = {"conversationId": str(row.pk), "turnId": str(turn.turn_id), "turnNo": turn.turn_no}
    session = Redaction.of(turn.snapshot).session(_session_after(turn, answer, change))
    record = TurnRecord(TurnStatus.OK, session, EXTERNAL, None, "The turn was handled elsewhere.")
    stored = [store_answer_stmt(key, session_id, turn.turn_id, body, lease.now)] if key else []
    try:
        inserts, head = turn_log().insert_turn_stmts(turn, record, lease.chain_head)
        with transaction.atomic():
            execute_all([update_conversation_stmt(lease, session, head), *inserts, *stored])
            for listen in external_answer_listeners if message is None else ():
                listen(row, turn.turn_id, answer or "", lease.now)
    except StatementRefused:
        raise TurnConflict() from None
    return body


def _session_after(turn: Turn, answer: str | None, change: Callable[[Session, Turn], Session]) -> Session:
    """The session after the turn that another system handled."""
    loaded = turn.ports.conversations.load()
    session = Session(turn.request.conversation_id, turn.turn_no, user_text=turn.request.message)
    session = update_dialogue(resume_session(restore_session(session, loaded, {}), turn), buttons=())
    if loaded.memory_recall:
        session = set_recall(session, loaded.memory_recall)
    payload = TextPayload(answer or "")
    session = change(session.evolve(payload=payload, last_assistant=to_document(payload)), turn)
    turn.audit(session, ASSISTANT_OUTPUT, output=payload.value, outputFormat="TEXT", responseType=EXTERNAL)
    session = ensure_running(session, turn, "handled_elsewhere")
    turns_so_far = loaded.conversation.turn_count + 1
    session = session.evolve(context_summary=build_context_summary(session, turn.snapshot, turns_so_far))
    return session.evolve(context=build_closing_context(session))
