"""A message of a thread: find or begin its session, and take the turn there."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from convengine.engine.errors import ConversationClosed, TurnConflict
from convengine.engine.steps.conversation.stages import USER_INPUT
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.json_value import Json
from convengine.server.sessions.models import EXTERNAL
from convengine.server.threads.external_changes import get_session, store_external_turn
from convengine.server.threads.find_session import ResolvedSession, Thread, find_or_begin_session
from convengine.server.turns import idempotency
from convengine.server.turns.acquire import AlreadyAnswered
from convengine.server.turns.answer import StoredAnswer, TurnAnswer
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn

#: How often a message looks for its session again when that one ends first.
_ATTEMPTS = 20


T = TypeVar("T")


def take_message(thread: Thread, request: TurnRequest, key: IdempotencyKey | None = None) -> TurnAnswer | StoredAnswer:
    """Resolve and run. `request` names no session yet. Raises as `find_or_begin_session` and `take_turn` do."""

    def take(resolved: ResolvedSession) -> TurnAnswer | StoredAnswer:
        session_request = replace(
            request,
            conversation_id=resolved.session_id,
            resolved=resolved.reason.value,
            after_stale=resolved.after_stale,
            previous_session_id=resolved.previous_id,
        )
        return take_turn(session_request, key)

    return _take_in_session(thread, request.message, key, take)


def record_message(thread: Thread, text: str, answer: str, key: IdempotencyKey) -> dict[str, Json]:
    """Record a message that the engine does not read, such as a picture, with its answer; as a turn for its caller."""

    def note_user(session: Session, turn: Turn) -> Session:
        turn.audit(session, USER_INPUT, text=text, inputParamKeys=[], source=EXTERNAL)
        return session

    def record(resolved: ResolvedSession) -> StoredAnswer:
        return StoredAnswer(store_external_turn(resolved.session_id, thread.workspace_id, text, answer, note_user, key))

    body = _take_in_session(thread, None, key, record).body
    row = get_session(body["conversationId"], thread.workspace_id)
    stood = {"intent": row.intent_code, "state": row.state_code}
    return {"success": True, **body, **stood, "payload": {"type": "TEXT", "value": answer}}


def _take_in_session(
    thread: Thread, message: str | None, key: IdempotencyKey | None, take: Callable[[ResolvedSession], T]
) -> T | StoredAnswer:
    """Find or begin the session of a message and take it there, or return its stored answer."""
    if key and (body := idempotency.find_answer(key)) is not None:
        return StoredAnswer(body)
    for _ in range(_ATTEMPTS):
        try:
            resolved = find_or_begin_session(thread, message, key)
        except AlreadyAnswered as answered:
            return StoredAnswer(answered.body)
        try:
            return take(resolved)
        except ConversationClosed:
            # Another message or call ended the session while this one waited.
            continue
    raise TurnConflict("The session of this thread kept changing. Send the message again.")
