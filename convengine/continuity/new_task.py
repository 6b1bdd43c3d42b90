"""A message that begins something else: this session ends, and the turn goes on in the next one (R40)."""

import uuid
from dataclasses import replace

from convengine.continuity.lifecycle import COMPLETE, moved, running
from convengine.domain.preferences import KNOWLEDGE_BASE
from convengine.domain.reset import RESET_FIELDS
from convengine.domain.session import Session, Transition
from convengine.domain.text import blank
from convengine.domain.turn import Left, Turn
from convengine.memory.recall import reminded

REASON = "new_task"
#: Session fields that change when a turn goes on in a new session.
NEW_TASK_FIELDS = RESET_FIELDS | {
    "conversation_id", "turn_no", "lifecycle", "lifecycle_detail", "preferences", "mounted_kb_id",
}  # fmt: skip
#: What the turn has found out of the message, and takes along.
_KEPT = ("intent", "state", "intent_source", "interaction_decision", "standalone_query", "query_rewritten")
_NAMESPACE = uuid.UUID("2ab1b1de-5f0e-4b53-8d6c-6a1e7d4fd0c9")


def begun(session: Session, turn: Turn) -> Session:
    """The fresh state of the next session, in which the turn is number 1. It keeps text, act, intent and state.

    What was set in this turn's params stays, as does what the caller sent; what the old session remembered does not.
    The old session is COMPLETE as the turn commits; both rows change in one commit.
    """
    at = turn.ports.clock.now().isoformat()
    old = moved(running(session, turn, REASON), turn, COMPLETE, REASON, {"reason": REASON, "at": at})
    fresh = _fresh(session, str(uuid.uuid5(_NAMESPACE, turn.turn_id)), turn)
    turn.left = Left(turn.request, turn.turn_no, old)
    turn.request = replace(turn.request, conversation_id=fresh.conversation_id)
    turn.turn_no = fresh.turn_no
    return fresh


def _fresh(session: Session, conversation_id: str, turn: Turn) -> Session:
    stored = turn.ports.conversations.load().conversation.input_params_json
    before = set(stored) if isinstance(stored, dict) else set()
    params = {
        key: value
        for key, value in session.input_params.items()
        if key in session.user_input_params or key not in before | {"previousTurn", "memory_recall"}
    }
    blank_session = Session(conversation_id)
    fresh = session.evolve(**{name: getattr(blank_session, name) for name in NEW_TASK_FIELDS})
    wanted = turn.request.preferences
    hop = Transition(None, None, session.intent, session.state, "INTENT_RESOLUTION")
    fresh = fresh.evolve(
        **{name: getattr(session, name) for name in _KEPT},
        transitions=(hop,),
        input_params=params,
        # What the caller chose with this very message; what the old session preferred stays there.
        preferences=dict(wanted),
        mounted_kb_id=wanted.get(KNOWLEDGE_BASE),
    )
    return fresh if blank(session.context_summary) else reminded(fresh, session.context_summary)
