"""What a form asks for in this answer, and when it is given up (R109, R110)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from convengine.engine.forms.asking import (
    ASK,
    ASK_AGAIN,
    DONE,
    INVALID,
    find_language,
    find_open_fields,
    get_texts,
    write_question,
    write_question_for_all,
    write_refusal,
)
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.session_form import clear_form_facts
from convengine.engine.forms.settings import ASK as ASK_MODE
from convengine.engine.forms.settings import MAX_MISSES
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn

_SLOTS = ("pending_slot", "pendingSlot")
Json = Any


def is_given_up(session: Session, turn: Turn) -> bool:
    """True when the asked field was missed too often and no rule went on."""
    moved = any(hop.cause == "RULE" for hop in session.transitions)
    return is_asking(session) and not moved and DialogueState.of(session).misses >= turn.config(session, MAX_MISSES)


def is_asking(session: Session) -> bool:
    """True while the form of the session is incomplete."""
    return session.resolved_schema is not None and not session.schema_complete


def give_up(session: Session, turn: Turn) -> Session:
    """The session after leaving its form, with FORM_GIVEN_UP."""
    state, schema = DialogueState.of(session), session.resolved_schema
    turn.audit(
        session,
        FORM_GIVEN_UP,
        field=state.asked_field,
        misses=state.misses,
        schemaId=schema.schema_id if schema else None,
    )
    given_up = clear_form_facts(session).move_to(state=UNKNOWN, cause="FORM_GIVEN_UP")
    return replace(state, asked_field=None, misses=0, listed_options=()).store(given_up)


def ask_next_field(session: Session, turn: Turn) -> Session:
    """The session with the field that the answer asks for, and its question; without one when no form is open."""
    before = DialogueState.of(session)
    form = get_form(turn.snapshot, session.resolved_schema) if session.resolved_schema and is_asking(session) else None
    fields = find_open_fields(form, session.context) if form else []
    field = _find_pending_slot(session, form) or (fields[0] if fields else None)
    if form is None or field is None:
        return replace(before, asked_field=None, misses=0, listed_options=()).store(session)
    options = tuple(option.value for option in field.spec.options)
    misses = before.misses if before.asked_field == field.path else 0
    state = replace(before, asked_field=field.path, misses=misses, listed_options=options)
    session = state.store(session)
    return session.evolve(form_question=_write_question(session, turn, form, field, fields))


def get_language(session: Session, turn: Turn, form: Form | None = None) -> str:
    """The language of default texts: of the form, else of the conversation."""
    own = form.schema.get("x-locale") if form and isinstance(form.schema, Mapping) else None
    return find_language(own if isinstance(own, str) and own else turn.config(session, LOCALE))


def _find_pending_slot(session: Session, form: Form | None) -> Field | None:
    slots = (session.context.get(key) for key in _SLOTS)
    return next((field for slot in slots if form and isinstance(slot, str) and (field := form.field(slot))), None)


def _write_question(session: Session, turn: Turn, form: Form, field: Field, fields: Sequence[Field]) -> str:
    state, read = DialogueState.of(session), session.fields_read
    language = get_language(session, turn, form)
    texts = get_texts(language)
    refusal = read.find_refusal(field.path) if read else None
    names: dict[str, Json] = {
        "value": refusal.text if refusal else None,
        "reason": write_refusal(refusal.text, refusal.reason, refusal.data, language) if refusal else None,
        "options": [option.label for option in field.spec.options],
        "min": field.spec.minimum,
        "max": field.spec.maximum,
        "misses": state.misses,
    }
    mode = form.schema.get("x-ask-mode") or turn.config(session, ASK_MODE)
    ask = _render(field, ASK, session, turn, names)
    if mode == "ALL" and len(fields) > 1 and not refusal:
        ask = write_question_for_all(fields, language)
    ask = ask or write_question(field, language)
    if refusal:
        question = _render(field, INVALID, session, turn, names) or texts["invalid"].format(
            reason=names["reason"], question=ask
        )
    elif state.misses:
        question = _render(field, ASK_AGAIN, session, turn, names) or texts["ask_again"].format(question=ask)
    else:
        question = ask
    done = [
        _render(field_read, DONE, session, turn, names)
        for path in (read.read if read else ())
        if (field_read := form.field(path))
    ]
    return " ".join(part for part in (*done, question) if part)


def _render(field: Field, key: str, session: Session, turn: Turn, names: Mapping[str, Json]) -> str:
    """A text of the field; blank for none, and for one that cannot be filled in."""
    template = field.declared.get(key)
    if not isinstance(template, str) or not template.strip():
        return ""
    return render_lenient(template, build_variables(session, turn, **names)).text.strip()
