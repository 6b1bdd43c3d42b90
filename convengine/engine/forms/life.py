"""The life of a form: when its fields leave the context."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from convengine.engine.forms.session_form import clear_form_facts, find_known_schema, get_current_form
from convengine.engine.forms.settings import MAX_MISSES, ON_LEAVE
from convengine.engine.forms.stages import FORM_CLEARED
from convengine.engine.prompts.select import find_interaction
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, InteractionMode, RulePhase
from convengine.engine.turn.scope import ANY, HAND_OVER, INTENT_COLLISION, UNKNOWN, intent_key
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn

#: In the context: what a form had that was handed over to a person.
HANDED_OVER_VALUES = "handover_values"
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


class OnLeave(StrEnum):
    """What happens when the user wants to leave a form; the values of `x-on-leave` and of Form/ON_LEAVE."""

    #: Ask once, if the form has values.
    ASK = "ASK"
    LEAVE = "LEAVE"
    STAY = "STAY"


def clears_on(row: rows.OutputSchema, cause: ClearCause) -> bool:
    """True when the schema's `x-clear` names the cause."""
    listed = row.json_schema.get("x-clear") if isinstance(row.json_schema, Mapping) else None
    return isinstance(listed, list) and cause in listed


def read_on_no(row: rows.OutputSchema) -> OnNo | None:
    """The schema's `x-on-no`. Returns None if it is missing or has an unknown value."""
    wanted = row.json_schema.get("x-on-no") if isinstance(row.json_schema, Mapping) else None
    return OnNo(wanted) if isinstance(wanted, str) and wanted in set(OnNo) else None


def read_on_leave(session: Session, turn: Turn, row: rows.OutputSchema) -> OnLeave:
    """What leaving the form does. Users cannot leave a form that has neither `x-on-leave` nor CANCEL in `x-clear`."""
    wanted = row.json_schema.get("x-on-leave") if isinstance(row.json_schema, Mapping) else None
    if isinstance(wanted, str) and wanted in set(OnLeave):
        return OnLeave(wanted)
    return OnLeave(turn.config(session, ON_LEAVE)) if clears_on(row, ClearCause.CANCEL) else OnLeave.STAY


def find_refused_form(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The form whose confirmation this message answers with a no, and that says what a no does.

    Returns None for other messages, while the form is incomplete, and in a final state.
    """
    row = find_known_schema(session, turn)
    if row is None or read_on_no(row) is None or session.dialogue.dialogue_act != DialogueAct.NEGATE:
        return None
    form = get_current_form(session, turn, row)
    if form.problem or not form.status(session.context).complete:
        return None
    return None if is_final_state(turn.snapshot, session.intent, session.state) else row


def keep_general_rules_out(session: Session, turn: Turn, row: rows.OutputSchema) -> None:
    """Let no rule of every intent change intent or state in this turn: the form decides."""
    decider = replace(row, state_code=ANY)
    turn.set_by_rule["intent"] = (decider, str(session.intent))
    turn.set_by_rule["state"] = (decider, str(session.state))


def leave_form(session: Session, turn: Turn, row: rows.OutputSchema, cause: str) -> Session:
    """The session outside of the form, in the state UNKNOWN: without its lock, its facts and its question.

    Its fields leave the context only if its `x-clear` names CANCEL.
    """
    session = clear_form_facts(clear_form(session, turn, row, ClearCause.CANCEL)).move_to(state=UNKNOWN, cause=cause)
    return forget_question(session)


def forget_question(session: Session) -> Session:
    """The session that neither asks for a field nor knows a form."""
    return update_dialogue(
        session, asked_field=None, misses=0, listed_options=(), last_schema=None, leaving=None, open_offers={}
    )


def find_most_misses(session: Session, turn: Turn, row: rows.OutputSchema) -> int:
    """How many answers in a row may miss a field: `x-max-misses` of the form, else the setting."""
    own = row.json_schema.get("x-max-misses") if isinstance(row.json_schema, Mapping) else None
    return own if isinstance(own, int) and own > 0 else int(turn.config(session, MAX_MISSES))


def keep_for_person(session: Session, turn: Turn, row: rows.OutputSchema) -> Session:
    """The session whose context keeps the values that leave it with the form, for the person who takes over."""
    listed = list_cleared(session, row) if clears_on(row, ClearCause.CANCEL) else []
    values = {name: session.context[name] for name in listed if session.context[name] is not None}
    return session.with_context({HANDED_OVER_VALUES: values}) if values else session


def leave_old_form(session: Session, turn: Turn) -> Session:
    """The session without the form of an intent that was left for another.

    Unchanged if there is no such form, and while the user is asked which of several intents is meant.
    """
    row = turn.snapshot.row(rows.OutputSchema, DialogueState.of(session).last_schema)
    if row is None or code(row.intent_code) == code(session.intent) or code(session.state) == INTENT_COLLISION:
        return session
    return clear_form(session, turn, row, ClearCause.CANCEL)


def clear_form(session: Session, turn: Turn, row: rows.OutputSchema, cause: ClearCause) -> Session:
    """The session without the form's fields, but for those with `x-keep`. Writes FORM_CLEARED.

    Unchanged if the schema does not clear on this cause.
    """
    if not clears_on(row, cause):
        return session
    fields = list_cleared(session, row)
    turn.audit(session, FORM_CLEARED, schemaId=row.schema_id, cause=cause.value, fields=fields)
    session = forget_question(session.without_context(*fields))
    if cause is ClearCause.DONE:
        session = update_dialogue(session, done_schema=row.schema_id)
    return clear_form_facts(session)


def list_cleared(session: Session, row: rows.OutputSchema) -> list[str]:
    """The fields in the context that leave it with the form."""
    properties = row.json_schema.get("properties") if isinstance(row.json_schema, Mapping) else None
    return [
        name
        for name, declared in (properties or {}).items()
        if name in session.context and not (isinstance(declared, Mapping) and declared.get("x-keep") is True)
    ]


def is_final_state(snapshot: Snapshot, intent: str | None, state: str | None) -> bool:
    """True for a state in which nothing more can happen.

    Its template says so, or it has an answer, and neither rules, nor a schema, an action or moves of its own.
    """
    template = find_interaction(snapshot, intent, state)
    if template and InteractionMode.read(template.interaction_mode) in _FINAL_MODES:
        return True
    scopes = [scope for scope in (intent, ANY) if snapshot.has_scope(rows.Response, scope, state)]
    if not scopes:
        return False
    # What an answer of every intent says is final where nothing of every intent follows it either.
    for scope in {intent, scopes[0]}:
        if any(snapshot.has_scope(table, scope, state) for table in (rows.Rule, rows.OutputSchema, rows.PendingAction)):
            return False
    return (code(intent), code(state)) not in snapshot.index(rows.StateEdge, _start_key, _edge_order)


def is_in_form(snapshot: Snapshot, intent: str | None, state: str | None) -> bool:
    """True for a state in which a form of the intent collects, or waits for its confirmation."""
    has_form = code(intent) in snapshot.index(rows.OutputSchema, intent_key, schema_order)
    return has_form and code(state) not in (UNKNOWN, HAND_OVER) and not is_final_state(snapshot, intent, state)


def asks_for_consent(snapshot: Snapshot, intent: str | None, state: str | None) -> bool:
    """True for a state in which an action of the intent waits for a yes, or in which rules react to what is said."""
    reacting = snapshot.rule_buckets(RulePhase.POST_DIALOGUE_ACT, intent, state)
    is_own = (RulePhase.POST_DIALOGUE_ACT.value, code(intent), code(state)) in reacting
    return is_own or snapshot.has_scope(rows.PendingAction, intent, state)


def find_ended_schema(session: Session, turn: Turn) -> rows.OutputSchema | None:
    """The schema of a form of this intent that ended and was cleared: done in a final state, or left.

    In the state UNKNOWN, the first one that CANCEL clears counts as left. Returns None if there is none.
    """
    schemas = turn.snapshot.index(rows.OutputSchema, intent_key, schema_order).get(code(session.intent), ())
    if not schemas:
        return None
    if code(session.state) == UNKNOWN:
        return next((row for row in schemas if clears_on(row, ClearCause.CANCEL)), None)
    if not is_final_state(turn.snapshot, session.intent, session.state):
        return None
    ended = (row for row in schemas if clears_on(row, ClearCause.DONE) and not list_cleared(session, row))
    return next(ended, None)


def follows_ended_form(session: Session, turn: Turn) -> bool:
    """True when the form of this intent ended in an earlier turn, and this message has begun nothing new."""
    return not begins_something(session) and find_ended_schema(session, turn) is not None


def begins_something(session: Session) -> bool:
    """True when this message led to an intent, a state, a question or a reset."""
    return bool(session.intent_source or session.transitions or session.clarification or session.reset_reason)


def schema_order(row: rows.OutputSchema) -> int:
    return row.schema_id


def awaits_confirmation(session: Session, turn: Turn) -> bool:
    """True in a later state of a form's intent in which something still has to be decided."""
    if find_known_schema(session, turn) is None:
        return False
    return not is_final_state(turn.snapshot, session.intent, session.state)


def _start_key(edge: rows.StateEdge) -> tuple[str, str]:
    return code(edge.intent_code), code(edge.from_state)


def _edge_order(edge: rows.StateEdge) -> int:
    return edge.edge_id
