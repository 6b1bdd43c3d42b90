"""Corrections as people say them, in a form that is being filled and at its confirmation (R109)."""

from convengine.engine.forms.asking import (
    asks_for_another,
    asks_for_more,
    asks_for_person,
    find_form_language,
    has_leaving_clause,
    is_question,
    list_filled_fields,
    says_nothing,
    skips_field,
    sort_fields,
    wants_to_leave,
    write_change_question,
)
from convengine.engine.forms.extract import Extraction
from convengine.engine.forms.extract.correction import (
    answers_asked_field,
    find_fields_to_ask_again,
    find_possible_fields,
    read_correction,
    read_named_field,
    repeats_value,
)
from convengine.engine.forms.extract.emptied import find_emptied_field
from convengine.engine.forms.form import Form, get_form, is_meaningful
from convengine.engine.forms.leaving import wants_next
from convengine.engine.forms.life import OnNo, is_final_state, read_on_no
from convengine.engine.forms.read_message import (
    describe_situation,
    find_extractor,
    find_value,
    list_refused,
    note_fields_read,
    store_extraction,
)
from convengine.engine.forms.session_form import (
    decide_schema,
    find_known_schema,
    find_schema,
    lock_intent,
    set_form_facts,
)
from convengine.engine.forms.settings import CLEAR_MCP_ON_FRESH_VALUES
from convengine.engine.forms.user_answer import read_opening_answer, read_yes_or_no
from convengine.engine.phrases.matching import match_phrases
from convengine.engine.steps.correction.stages import (
    CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
    CORRECTION_STEP_PATCH_NOT_APPLIED,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, RoutingDecision
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import ReadingSituation, asks_to_change, is_slip

#: Source of these answers.
SOURCE = "FORM"
#: Acts of messages that correct nothing.
_NO_CORRECTION = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET, DialogueAct.GREETING)


def correct_form(session: Session, turn: Turn) -> Session:
    """The session with the corrected values; the same session if the message corrects none."""
    state = DialogueState.of(session)
    act = DialogueAct.read(session.input_params.get("dialogue_act"))
    if state.last_schema is None or act in _NO_CORRECTION or session.reply_override or blank(session.user_text):
        return session
    own = find_schema(turn.snapshot, session.intent, session.state)
    row = own or find_known_schema(session, turn)
    if row is None or (own and find_extractor(session, turn) == "LLM"):
        return session
    form = get_form(turn.snapshot, row)
    held = {field.path: find_value(session.context, field.path) for field in form.leaves}
    held = {path: value for path, value in held.items() if is_meaningful(value)}
    if form.problem or not held or (state.asked_field and wants_next(session, turn)):
        return session
    text = session.user_text or ""
    asked_field = form.field(state.asked_field) if state.asked_field else None
    if asked_field is not None and not asked_field.required and skips_field(text, asked_field):
        return session  # "There are none" counts nothing else.
    confirms = state.asked_field is None and read_on_no(row) is not None
    is_expected = confirms and bool(state.listed_options)
    situation = describe_situation(session, turn, form)
    may_change = is_expected or (confirms and _is_confirmation(session, turn, own, form))
    if may_change and _asks_for_other_subject(session, turn):
        return session  # "Great, also need kennels from the 26th" changes no day of this form.
    if emptied := find_emptied_field(form, text, held, situation, state.asked_field):
        return _empty_field(session, turn, row, form, emptied)
    extraction = read_correction(
        form,
        text,
        held,
        situation,
        asked_path=state.asked_field,
        is_expected=may_change,
        is_retry=state.misses > 0,
    )
    if extraction is not None:
        return _apply_extraction(session, turn, row, form, extraction)
    paths = find_fields_to_ask_again(form, text, held, situation, asked_path=state.asked_field, is_expected=is_expected)
    if paths:
        if named := read_named_field(form, text, paths, held, situation, takes_any_text=is_expected):
            return _apply_extraction(session, turn, row, form, named)
        if answers_asked_field(form, text, situation, state.asked_field):
            return session  # "Sorry, with the area code, 331 555 0123" empties no post code.
        return _ask_again(session, turn, row, form, paths)
    if is_expected and (
        says_nothing(text) or read_yes_or_no(session, turn, row) or read_opening_answer(session, turn, row)
    ):
        return _route(session, turn, row, form, {})  # The answer of the state repeats the confirmation.
    possible = find_possible_fields(form, text, held, situation) if may_change else []
    if (
        len(possible) < 2
        and may_change
        and _wants_change(text, row, situation)
        and not repeats_value(form, text, held, situation)
    ):
        possible = [field.path for field in list_filled_fields(form, session.context)]
    return _ask_which(session, turn, row, form, possible) if len(possible) > 1 else session


def _asks_for_other_subject(session: Session, turn: Turn) -> bool:
    """True for a message that adds something, in words of another intent: its values are not of this form."""
    if not asks_for_more(session.user_text):
        return False
    intents = {code(match.intent) for match in match_phrases(turn.snapshot, session.user_text).hits}
    return bool(intents) and intents.isdisjoint({code(session.intent), *turn.snapshot.returning_intents})


def _wants_change(text: str, row: OutputSchema, situation: ReadingSituation) -> bool:
    """True for words of a correction whose value nobody can read: "yes but", "change it to the airport"."""
    if read_on_no(row) is not OnNo.ASK_WHAT_TO_CHANGE or not asks_to_change(text, situation):
        return False
    is_other_wish = asks_for_another(text) or asks_for_person(text, must_speak=True)
    return not (is_other_wish or is_slip(text, situation) or wants_to_leave(text) or has_leaving_clause(text))


def _is_confirmation(session: Session, turn: Turn, own: OutputSchema | None, form: Form) -> bool:
    """True when the complete form waits for its yes, and the message asks nothing."""
    if own is not None or is_question(session) or is_final_state(turn.snapshot, session.intent, session.state):
        return False
    return form.status(session.context).complete


def _ask_which(session: Session, turn: Turn, row: OutputSchema, form: Form, paths: list[str]) -> Session:
    """Ask which of these fields the new value is for."""
    session = _route(session, turn, row, form, {})
    fields = sort_fields(form, (field for field in form.leaves if field.path in paths))
    question = write_change_question(fields, find_form_language(session, turn, form))
    return update_dialogue(session, listed_options=tuple(field.path for field in fields)).evolve(
        reply_override=ReplyOverride(question, SOURCE)
    )


def _apply_extraction(session: Session, turn: Turn, row: OutputSchema, form: Form, extraction: Extraction) -> Session:
    """Store all values of the message. A value that is refused is asked for again."""
    before = session.context
    fields = [finding.field for finding in extraction.extracted]
    refused = list_refused(session, extraction)
    session = store_extraction(session.without_context(*refused), extraction)
    session = _route(session, turn, row, form, {path: refusal.reason for path, refusal in refused.items()})
    session = session.with_params(
        {
            "correction_applied": bool(fields),
            "correction_target_field": fields[0] if fields else None,
            "correction_fields": fields,
        }
    )
    for finding in extraction.extracted:
        _audit_change(session, turn, finding.field, finding.value, find_value(before, finding.field))
    for refusal in refused.values():
        turn.audit(
            session,
            CORRECTION_STEP_PATCH_NOT_APPLIED,
            reason=refusal.reason,
            field=refusal.field,
            intent=session.intent,
            state=session.state,
            routingDecision=session.input_params["routing_decision"],
        )
    return note_fields_read(session, turn, fields, refused.values())


def _empty_field(session: Session, turn: Turn, row: OutputSchema, form: Form, path: str) -> Session:
    """Leave an optional field empty, as if it had been skipped."""
    previous = find_value(session.context, path)
    session = _route(session.with_context({path: None}), turn, row, form, {})
    _audit_change(session, turn, path, None, previous)
    return note_fields_read(session, turn, [path], ())


def _ask_again(session: Session, turn: Turn, row: OutputSchema, form: Form, paths: list[str]) -> Session:
    """Empty the named fields, so that the form asks for them."""
    before = session.context
    session = _route(session.without_context(*paths), turn, row, form, {})
    for path in paths:
        _audit_change(session, turn, path, None, find_value(before, path))
    return session


def _route(session: Session, turn: Turn, row: OutputSchema, form: Form, reasons: dict[str, str]) -> Session:
    """The session that needs no intent and no extraction, with the facts of the changed form."""
    is_own = find_schema(turn.snapshot, session.intent, session.state) is row
    if is_own:
        decide_schema(session, turn)
    if turn.config(session, CLEAR_MCP_ON_FRESH_VALUES):
        session = session.without_context("mcp")
    status = form.status(session.context)
    session = lock_intent(set_form_facts(session, row, status, reasons), status.complete or not is_own)
    return update_dialogue(session, listed_options=()).with_params(
        {
            "routing_decision": RoutingDecision.APPLY_CORRECTION.value,
            "skip_schema_extraction": True,
            "skip_intent_resolution": True,
        }
    )


def _audit_change(session: Session, turn: Turn, path: str, value: object, previous: object) -> None:
    turn.audit(
        session,
        CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
        field=path,
        value=value,
        previousValue=previous,
        intent=session.intent,
        state=session.state,
        routingDecision=session.input_params["routing_decision"],
    )
