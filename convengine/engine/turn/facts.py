"""The document that rules, templates and progress texts read.

Built at most once per session value: a Session is frozen, so its document stays valid. Only the list of ended steps
grows. What code of the deployment changed of it, and of the answer, is recorded.
"""

from collections.abc import Mapping
from typing import Any

from convengine.engine.turn.local_time import CLOCK, describe_clock
from convengine.engine.turn.params import hide_internal
from convengine.engine.turn.payload import Payload, TextPayload
from convengine.engine.turn.session import FIELDS, PARAM_FIELDS, Session
from convengine.engine.turn.stages import FACTS_CHANGED, RESPONSE_TRANSFORMED
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json


def collect_schema_values(session: Session) -> Mapping[str, Any]:
    """The context reduced to the fields of the form; the whole context without a form."""
    schema = session.resolved_schema
    if schema is None:
        return session.context
    properties = schema.json_schema.get("properties", {}) if isinstance(schema.json_schema, Mapping) else {}
    return {key: value for key, value in session.context.items() if key in properties}


def collect_session_scalars(session: Session) -> dict[str, Any]:
    """The session keys without context, collected values and step records."""
    return {
        "conversationId": session.conversation_id,
        "intent": session.intent,
        "state": session.state,
        "schemaComplete": session.schema_complete,
        "hasContainerData": session.has_container_data,
        "containerData": session.container_data,
        "hasAnySchemaValue": session.schema_has_any_value,
        "intentLocked": session.intent_locked,
        "intentLockReason": session.intent_lock_reason,
        "missingRequiredFields": list(session.missing_required_fields),
        "missingFieldOptions": session.missing_field_options,
        "userText": session.user_text,
        "standaloneQuery": session.standalone_query,
        "resolvedUserInput": session.resolved_user_input,
        "pendingClarificationQuestion": session.clarification.question if session.clarification else None,
        "lastLlmStage": session.last_llm_stage,
        "postIntentRule": session.post_intent_rule,
        "ruleExecutionSource": session.rule_execution_source,
        "ruleExecutionOrigin": session.rule_execution_origin,
        "lastLlmOutput": session.last_llm_output if isinstance(session.last_llm_output, dict) else {},
        "turnNo": session.turn_no,
        "lifecycle": session.lifecycle,
        "contextSummary": session.context_summary,
        "previousTurn": session.memory.previousTurn,
    }


def collect_session_facts(session: Session) -> dict[str, Any]:
    """The session facts for GET_SESSION, and for templates under `session`."""
    return {
        **collect_session_scalars(session),
        "context": session.context,
        "schemaJson": collect_schema_values(session),
        "stepInfos": list_step_infos(session),
    }


def collect_extension_facts(session: Session) -> dict[str, Any]:
    """The session facts for registered code, with the turn's clock: a replay reads the same time."""
    return {**collect_session_facts(session), CLOCK: dict(describe_clock(session.now))}


def list_step_infos(session: Session) -> list[dict[str, Any]]:
    """The steps of this turn that ended normally so far, for rules at `$.stepInfos`."""
    return [
        {
            "stepName": step.step,
            "determinant": "STEP_EXIT",
            "status": "SUCCESS",
            "outcome": step.outcome,
            "durationMs": int(step.duration_ms),
        }
        for step in session.steps
        if step.success
    ]


def collect_facts(session: Session) -> dict[str, Any]:
    """Context keys at the top, overridden by the session facts; `inputParams`; and `payload` if there is one.

    The clock never hides a field of the context that has its name.
    """
    cached = session.__dict__.get("_facts")
    if cached is None:
        cached = {
            CLOCK: describe_clock(session.now),
            **session.context,
            **collect_session_facts(session),
            "inputParams": hide_internal(session.input_params),
        }
        if session.payload is not None:
            value = session.payload.value
            cached["payload"] = {"text": value} if isinstance(session.payload, TextPayload) else value
        session.__dict__["_facts"] = cached
    elif len(cached["stepInfos"]) < len(session.steps):
        cached = session.__dict__["_facts"] = {**cached, "stepInfos": list_step_infos(session)}
    return cached


#: Session keys that override the context: their names are part of the contract, and no field may use one.
SESSION_KEYS = frozenset(collect_session_facts(Session("")))
RESERVED_FACTS = SESSION_KEYS | {"inputParams", "payload"}

#: Fields of a session with keys of their own in the events, or without meaning for users.
_OWN_KEYS = frozenset({"context", *PARAM_FIELDS, "payload", "last_assistant", "steps"})


def audit_transformed(
    session: Session, turn: Turn, before: Payload | None, after: Payload | None, *, by: str, kind: str, **details: Json
) -> None:
    """Write RESPONSE_TRANSFORMED if the answer changed."""
    old, new = (payload.value if payload else None for payload in (before, after))
    if old != new:
        details = {key: value for key, value in details.items() if value is not None}
        turn.audit(session, RESPONSE_TRANSFORMED, by=by, kind=kind, before=old, after=new, **details)


def audit_changed_facts(
    before: Session, after: Session, turn: Turn, *, by: str, kind: str, session: Session | None = None
) -> None:
    """Write FACTS_CHANGED if facts changed, and RESPONSE_TRANSFORMED if the answer did.

    `session` is the present one, if the turn went on after these changes.
    """
    if before is after:
        return
    facts = _find_written(before.context, after.context)
    parameters = _find_written(before.input_params, after.input_params)
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in FIELDS if name not in _OWN_KEYS)
    # A value that is no text, number or truth value is only named.
    fields = {name: new if isinstance(new, (str, int, float, bool)) else None for name, old, new in pairs if old != new}
    removed = sorted(
        {*(before.context.keys() - after.context.keys()), *(before.input_params.keys() - after.input_params.keys())}
    )
    changes: dict[str, Json] = {"facts": facts, "parameters": parameters, "removed": removed, "fields": fields}
    if any(changes.values()):
        turn.audit(
            session or after, FACTS_CHANGED, by=by, kind=kind, **{key: value for key, value in changes.items() if value}
        )
    audit_transformed(session or after, turn, before.payload, after.payload, by=by, kind=kind)


def _find_written(before: Mapping[str, Json], after: Mapping[str, Json]) -> dict[str, Json]:
    """The entries that are new or have another value."""
    return {key: value for key, value in after.items() if key not in before or before[key] != value}
