"""Starting over: the effect of every reset, whatever caused it."""

from typing import Any

from convengine.engine.turn.enums import ResetReason
from convengine.engine.turn.params import LANGUAGE_STATE, RESET_KEYS
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import PARAM_FIELDS, Right, Session, Transition
from convengine.engine.turn.stages import CONVERSATION_RESET
from convengine.engine.turn.turn import Turn

#: Session fields that a reset may change.
RESET_FIELDS = frozenset(
    {
        "intent", "state", "turn_start_intent", "turn_start_state", "intent_locked", "intent_lock_reason",
        "intent_source", "interaction_decision", "transitions", "context", "history", "epoch",
        "status", "standalone_query", "query_rewritten", "resolved_schema", "schema_complete", "schema_has_any_value",
        "missing_required_fields", "missing_field_options", "fields_read", "form_question", "form_summary", "cards",
        "last_llm_output", "last_llm_stage", "payload",
        "last_assistant", "reply_override", "container_data", "has_container_data", "clarification",
        "post_intent_rule", "rule_execution_source", "rule_execution_origin", "reset_only", "reset_reason",
        "context_summary", *PARAM_FIELDS,
    }
)  # fmt: skip
#: The right to start over.
RESET = Right(RESET_FIELDS, lambda before, after: before.epoch != after.epoch)


def reset_session(session: Session, turn: Turn, reason: ResetReason, *, only: bool, **payload: Any) -> Session:
    """Reset the session under the same id, and write CONVERSATION_RESET: a new epoch without intent, params, memory.

    `only`: the text has nothing else to interpret. A turn that was reset already stays unchanged.
    """
    if session.reset_reason is not None:
        return session
    blank, sent = Session(session.conversation_id), session.user_input_params
    fresh = session.evolve(**{name: getattr(blank, name) for name in RESET_FIELDS}).evolve(
        transitions=(*session.transitions, Transition(session.intent, session.state, UNKNOWN, UNKNOWN, "RESET")),
        epoch=session.epoch + 1,
        reset_only=only,
        reset_reason=reason.value,
    )
    params = {key: value for key, value in sent.items() if key.strip().lower() not in RESET_KEYS}
    if LANGUAGE_STATE in session.params:
        params[LANGUAGE_STATE] = session.params[LANGUAGE_STATE]
    own = {"standalone_query": None, "resolved_user_input": session.user_text, "reset_reason": reason.value}
    fresh = fresh.with_only_params({**params, **own})
    turn.audit(
        fresh,
        CONVERSATION_RESET,
        reason=reason.value,
        **fresh.where,
        context=fresh.context,
        previousIntent=session.intent,
        previousState=session.state,
        previousContext=dict(session.context),
        epoch=fresh.epoch,
        **payload,
    )
    return fresh
