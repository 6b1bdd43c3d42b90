"""A message that begins a new task: this session ends, and the turn goes on in the next one."""

import uuid

from convengine.engine.memory.recall import set_recall
from convengine.engine.text.compare import blank
from convengine.engine.threads.lifecycle import COMPLETE, ensure_running, move_lifecycle
from convengine.engine.turn.reset import RESET_FIELDS
from convengine.engine.turn.session import KNOWLEDGE_BASE, Right, Session, Transition
from convengine.engine.turn.turn import Turn

REASON = "new_task"
#: Session fields that change when a turn goes on in a new session.
NEW_TASK_FIELDS = RESET_FIELDS | {
    "conversation_id", "turn_no", "version", "lifecycle", "lifecycle_detail", "preferences", "mounted_kb_id",
}  # fmt: skip
#: The right to go on in a new session.
BEGIN_TASK = Right(NEW_TASK_FIELDS, lambda before, after: before.conversation_id != after.conversation_id)
#: What the turn learned from the message and keeps.
_KEPT = ("intent", "state", "intent_source", "interaction_decision", "standalone_query", "query_rewritten")
_NAMESPACE = uuid.UUID("2ab1b1de-5f0e-4b53-8d6c-6a1e7d4fd0c9")


def begin_new_task(session: Session, turn: Turn) -> Session:
    """The initial session of the new task, with turn number 1. It keeps text, act, intent and state.

    Params of this turn and of the caller stay; the old session's memory does not, but a summary of its context goes
    into the recall. The old session becomes COMPLETE in the same commit.
    """
    detail = {"reason": REASON, "at": turn.ports.clock.now().isoformat()}
    turn.previous_session = move_lifecycle(ensure_running(session, turn, REASON), turn, COMPLETE, REASON, detail)
    stored = turn.ports.conversations.load().conversation.input_params_json
    before = {*(stored if isinstance(stored, dict) else ()), "previousTurn", "memory_recall"}
    sent, params = session.user_input_params, session.input_params.items()
    # This turn stores version 0 of the new session: no later turn may have its version.
    blank_session = Session(str(uuid.uuid5(_NAMESPACE, turn.turn_id)), version=-1)
    fresh = session.evolve(**{name: getattr(blank_session, name) for name in NEW_TASK_FIELDS})
    wanted = turn.request.preferences
    hop = Transition(None, None, session.intent, session.state, "INTENT_RESOLUTION")
    fresh = fresh.evolve(
        **{name: getattr(session, name) for name in _KEPT},
        transitions=(hop,),
        # The preferences of this message; those of the old session stay there.
        preferences=dict(wanted),
        mounted_kb_id=wanted.get(KNOWLEDGE_BASE),
    ).with_only_params({key: value for key, value in params if key in sent or key not in before})
    return fresh if blank(session.context_summary) else set_recall(fresh, session.context_summary)
