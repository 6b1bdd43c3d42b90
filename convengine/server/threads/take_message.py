"""A message of a thread: find or begin its session, and take the turn there."""

from dataclasses import replace

from convengine.engine.errors import ConversationClosed, TurnConflict
from convengine.engine.turn.turn import TurnRequest
from convengine.server.threads.find_session import Thread, find_or_begin_session
from convengine.server.turns import idempotency
from convengine.server.turns.acquire import AlreadyAnswered
from convengine.server.turns.answer import StoredAnswer, TurnAnswer
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import take_turn

#: How often a message looks for its session again when that one ends first.
_ATTEMPTS = 20


def take_message(thread: Thread, request: TurnRequest, key: IdempotencyKey | None = None) -> TurnAnswer | StoredAnswer:
    """Resolve and run. `request` names no session yet. Raises as `find_or_begin_session` and `take_turn` do."""
    if key and (body := idempotency.find_answer(key)) is not None:
        return StoredAnswer(body)
    for _ in range(_ATTEMPTS):
        try:
            resolved = find_or_begin_session(thread, request.message, key)
        except AlreadyAnswered as answered:
            return StoredAnswer(answered.body)
        session_request = replace(
            request,
            conversation_id=resolved.session_id,
            resolved=resolved.reason.value,
            after_stale=resolved.after_stale,
            previous_session_id=resolved.previous_id,
        )
        try:
            return take_turn(session_request, key)
        except ConversationClosed:
            # Another message or call ended the session while this one waited.
            continue
    raise TurnConflict("The session of this thread kept changing. Send the message again.")
