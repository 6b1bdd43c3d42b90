"""The life of a form: when its fields leave the context (R113)."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from convengine.engine.forms.session_form import clear_form_facts
from convengine.engine.forms.stages import FORM_CLEARED
from convengine.engine.prompts.select import choose_interaction
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import InteractionMode
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

_FINAL_MODES = (InteractionMode.FINAL, InteractionMode.REVIEW)


class ClearCause(StrEnum):
    """Why fields leave the context; the values of `x-clear`."""

    #: The action was executed, or the first answer of a final state was given.
    DONE = "DONE"
    #: Refused, abandoned, given up, or the intent was left for good.
    CANCEL = "CANCEL"
    #: The intent begins again.
    RESTART = "RESTART"


class OnNo(StrEnum):
    """What a "no" to the confirmation of a form does; the values of `x-on-no`."""

    ASK_WHAT_TO_CHANGE = "ASK_WHAT_TO_CHANGE"
    RESTART = "RESTART"
    CANCEL = "CANCEL"


def clears_on(row: rows.OutputSchema, cause: ClearCause) -> bool:
    """True when the schema's `x-clear` names the cause."""
    listed = row.json_schema.get("x-clear") if isinstance(row.json_schema, Mapping) else None
    return isinstance(listed, list) and cause in listed


def read_on_no(row: rows.OutputSchema) -> OnNo | None:
    """The schema's `x-on-no`; null for none, and for a value that there is not."""
    wanted = row.json_schema.get("x-on-no") if isinstance(row.json_schema, Mapping) else None
    return OnNo(wanted) if isinstance(wanted, str) and wanted in set(OnNo) else None


def clear_form(session: Session, turn: Turn, row: rows.OutputSchema, cause: ClearCause) -> Session:
    """The session without the form's fields, but for those with `x-keep`, and with FORM_CLEARED.

    Unchanged if the schema does not clear on this cause.
    """
    if not clears_on(row, cause):
        return session
    properties = row.json_schema.get("properties") or {}
    fields = [
        name
        for name, declared in properties.items()
        if name in session.context and not (isinstance(declared, Mapping) and declared.get("x-keep") is True)
    ]
    turn.audit(session, FORM_CLEARED, schemaId=row.schema_id, cause=cause.value, fields=fields)
    state = replace(DialogueState.of(session), asked_field=None, misses=0, listed_options=(), last_schema=None)
    return clear_form_facts(state.store(session.without_context(*fields)))


def is_final_state(snapshot: Snapshot, intent: str | None, state: str | None) -> bool:
    """True for a state in which nothing more can happen.

    Its template says so, or it has neither rules, nor a schema, an action or moves of its own.
    """
    template = choose_interaction(snapshot, intent, state).winner
    if template and InteractionMode.read(template.interaction_mode) in _FINAL_MODES:
        return True
    if not snapshot.has_scope(rows.Response, intent, state):
        return False
    if any(snapshot.has_scope(table, intent, state) for table in (rows.Rule, rows.OutputSchema, rows.PendingAction)):
        return False
    return (code(intent), code(state)) not in snapshot.index(rows.StateEdge, _start_key, _edge_order)


def _start_key(edge: rows.StateEdge) -> tuple[str, str]:
    return code(edge.intent_code), code(edge.from_state)


def _edge_order(edge: rows.StateEdge) -> int:
    return edge.edge_id
