"""A message of a thread: its session found or made, and the turn taken there, in one call (sessions 10)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from convengine.domain.turn import TurnRequest
from convengine.errors import ConversationClosed, TurnConflict
from convengine.sessions import idempotency
from convengine.sessions.idempotency import IdempotencyKey
from convengine.sessions.lease import Answered
from convengine.sessions.threads import Resolved, Thread, find_or_make
from convengine.sessions.turns import Replayed, TurnAnswer, take_turn

#: How often a message looks for its session anew when that one ends before the message's turn begins.
_ATTEMPTS = 20


@dataclass(frozen=True)
class ThreadAnswer:
    """A turn's answer, and why it was taken in that session."""

    resolved: Resolved
    turn: TurnAnswer


#: Makes the wire form of an answer; it is stored with the idempotency key, in the turn's commit.
Wire = Callable[[ThreadAnswer], Any]


def take_message(
    thread: Thread, request: TurnRequest, key: IdempotencyKey | None = None, wire: Wire | None = None
) -> ThreadAnswer | Replayed:
    """Resolve and run. `request` names no session yet. Raises as `find_or_make` and `take_turn` do."""
    if key and (body := idempotency.find(key)) is not None:
        return Replayed(body)
    for _ in range(_ATTEMPTS):
        try:
            resolved = find_or_make(thread, request.message, key)
        except Answered as answered:
            return Replayed(answered.body)
        here = replace(
            request,
            conversation_id=resolved.session_id,
            resolved=resolved.reason.value,
            after_stale=resolved.after_stale,
        )
        try:
            answer = take_turn(here, key, _bound(wire, resolved))
        except ConversationClosed:
            # Another message, or a call, ended the session while this one waited for its turn there.
            continue
        return answer if isinstance(answer, Replayed) else ThreadAnswer(resolved, answer)
    raise TurnConflict("The session of this thread ended again and again; send the message again.")


def _bound(wire: Wire | None, resolved: Resolved) -> Callable[[TurnAnswer], Any] | None:
    return (lambda answer: wire(ThreadAnswer(resolved, answer))) if wire else None
