"""A message of a thread: find or make its session, and take the turn there (sessions 10)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from convengine.engine.errors import ConversationClosed, TurnConflict
from convengine.engine.turn.turn import TurnRequest
from convengine.server.threads.find_session import ResolvedSession, Thread, find_or_begin_session
from convengine.server.turns import idempotency
from convengine.server.turns.acquire import AlreadyAnswered
from convengine.server.turns.idempotency import IdempotencyKey
from convengine.server.turns.take_turn import Replayed, TurnAnswer, take_turn

#: How often a message looks for its session again when that one ends first.
_ATTEMPTS = 20


@dataclass(frozen=True)
class ThreadAnswer:
    """A turn's answer, and why it was taken in that session."""

    resolved: ResolvedSession
    turn: TurnAnswer


#: Makes the JSON of an answer, which is stored with the idempotency key in the turn's commit.
Wire = Callable[[ThreadAnswer], Any]


def take_message(
    thread: Thread, request: TurnRequest, key: IdempotencyKey | None = None, wire: Wire | None = None
) -> ThreadAnswer | Replayed:
    """Resolve and run. `request` names no session yet. Raises as `find_or_make` and `take_turn` do."""
    if key and (body := idempotency.find_answer(key)) is not None:
        return Replayed(body)
    for _ in range(_ATTEMPTS):
        try:
            resolved = find_or_begin_session(thread, request.message, key)
        except AlreadyAnswered as answered:
            return Replayed(answered.body)
        session_request = replace(
            request,
            conversation_id=resolved.session_id,
            resolved=resolved.reason.value,
            after_stale=resolved.after_stale,
        )
        try:
            answer = take_turn(session_request, key, _bind_wire(wire, resolved))
        except ConversationClosed:
            # Another message or call ended the session while this one waited.
            continue
        return answer if isinstance(answer, Replayed) else ThreadAnswer(resolved, answer)
    raise TurnConflict("The session of this thread kept changing. Send the message again.")


def _bind_wire(wire: Wire | None, resolved: ResolvedSession) -> Callable[[TurnAnswer], Any] | None:
    return (lambda answer: wire(ThreadAnswer(resolved, answer))) if wire else None
