"""What a form asks for in this answer."""

from collections.abc import Mapping, Sequence

from convengine.engine.forms.asking import (
    fill_text,
    find_form_language,
    find_form_locale,
    find_open_fields,
    get_texts,
    list_filled_fields,
    write_change_question,
    write_title,
)
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.interrupted import RESUMED
from convengine.engine.forms.life import (
    ClearCause,
    OnNo,
    awaits_confirmation,
    clear_form,
    is_final_state,
    leave_old_form,
    read_on_no,
)
from convengine.engine.forms.message import find_pending_slot
from convengine.engine.forms.options_from_data import resolve_options
from convengine.engine.forms.session_form import get_current_form, remember_schema, set_form_facts
from convengine.engine.forms.user_answer import begins_with_yes, leaves_question_open, may_change, says
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.steps.responses.question_text import SURE_REFUSALS, FormQuestion, asks_for_all, list_echoed
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import ActionStatus, DialogueAct, RoutingDecision
from convengine.engine.turn.session import RefusedValue, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.span import RefusalReason

#: Kinds of values that are stored otherwise than people say them.
_SPOKEN = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION, Kind.CHOICE, Kind.PHONE)
#: The parts of a stored moment.
_DAY, _TIME, _MOMENT = slice(0, 10), slice(11, 16), 16
#: Kinds of values that may be said in two messages.
_IN_PARTS = (Kind.DATE, Kind.DATE_TIME)


def clear_done_form(session: Session, turn: Turn) -> Session:
    """The session after the answer: a form that is done or refused leaves the context."""
    row, cause = session.resolved_schema, find_end(session, turn)
    return clear_form(session, turn, row, cause) if row and cause else session


def find_end(session: Session, turn: Turn) -> ClearCause | None:
    """How the form ends with this answer: done, or refused. Returns None if it goes on, or the bot went back to it."""
    row, result = session.resolved_schema, session.action.pending_action_result
    if row is None or not session.schema_complete or any(hop.cause == RESUMED for hop in session.transitions):
        return None
    if result == ActionStatus.EXECUTED or (
        result is None
        and not has_open_action(session, turn)
        and is_final_state(turn.snapshot, session.intent, session.state)
    ):
        return ClearCause.DONE
    return ClearCause.CANCEL if result == ActionStatus.REJECTED and read_on_no(row) is None else None


def is_asking(session: Session) -> bool:
    """True while the form of the session is incomplete."""
    return session.resolved_schema is not None and not session.schema_complete


def ask_next_field(session: Session, turn: Turn) -> Session:
    """The session with the field that the answer asks for, and its question; without one when no form is open.

    Later states of the intent know the form.
    """
    session = remember_schema(leave_old_form(session, turn), session.resolved_schema)
    row = session.resolved_schema
    if row is None:
        return _ask_nothing(session)
    known, session = session, resolve_options(session, turn)
    form = get_current_form(session, turn, row)
    # A task or a tool gave options, or a rule removed a field.
    if session is not known or (session.schema_complete and not form.status(session.context).complete):
        session = set_form_facts(session, row, form)
    if session.schema_complete:
        return _ask_nothing(session.evolve(form_summary=_summarize(session, turn, form)))
    before, fields = DialogueState.of(session), find_open_fields(form, session.context)
    # First what the last answer repeated, and a "no" emptied; last what is offered.
    first = min(
        fields, key=lambda item: (item.path not in before.echoed, item.path in before.open_offers), default=None
    )
    slot = find_pending_slot(session, form)
    field = (form.field(slot) if slot else None) or _find_refused_field(session, turn, form, fields) or first
    if field is None:
        return _ask_nothing(session)
    session = _note_question(session, before, field, fields)
    session = update_dialogue(session, echoed=tuple(field.path for field in list_echoed(session, turn, form)))
    return session.evolve(form_question=FormQuestion(session, turn, form, field, fields).write())


def _ask_nothing(session: Session) -> Session:
    """The session that waits for no field."""
    return update_dialogue(session, asked_field=None, misses=0, listed_options=(), known_part="", echoed=())


def _note_question(session: Session, before: DialogueState, field: Field, fields: Sequence[Field]) -> Session:
    """The session that waits for a value of the field. `before` is the dialogue before this answer."""
    is_asked_again = before.asked_field == field.path
    # The values that a refusal names, "16 or 23 October?", stay offered until the field is read.
    refusal = session.fields_read.find_refusal(field.path)
    listed = before.listed_options if is_asked_again else ()
    offered = listed if refusal is None else tuple(refusal.data.get("candidates") or ())
    return update_dialogue(
        session,
        asked_field=field.path,
        misses=before.misses if is_asked_again else 0,
        listed_options=tuple(option.value for option in field.spec.options) or offered,
        known_part=_find_known_part(session, field) or _keep_known_part(session, before, fields, field),
        offered=dict(session.fields_read.offered),
    )


def ask_for_change(session: Session, turn: Turn) -> Session | None:
    """The session that asks what to change, after a message to the confirmation that gave nothing.

    A yes that follows must not confirm what the user wanted otherwise. To a message that begins with a yes, or only
    asks something, the summary is repeated in other words. Returns None if no form with `x-on-no` waits.
    """
    row = session.resolved_schema
    if row is None or read_on_no(row) is not OnNo.ASK_WHAT_TO_CHANGE or not _says_nothing_known(session, turn):
        return None
    form = get_current_form(session, turn, row)
    language, fields = find_form_language(session, turn, form), list_filled_fields(form, session.context)
    texts = get_texts(language)
    if begins_with_yes(session, turn) or not may_change(session, turn):
        again = fill_text(texts["confirm_again"], summary=session.form_summary or "")
        is_open = leaves_question_open(session, turn, row)
        return session.evolve(form_question=f"{texts['unanswered']} {again}" if is_open else again)
    question = write_change_question(fields, language)
    session = update_dialogue(session, asked_field=None, listed_options=tuple(field.path for field in fields))
    return session.evolve(form_question=str(texts["ask_again"]).format(question=question))


def _says_nothing_known(session: Session, turn: Turn) -> bool:
    """True if the user answers a confirmation with a change or a question, and no step has dealt with it."""
    if not awaits_confirmation(session, turn) or session.digression or session.reply_override:
        return False
    before = (session.turn_start_intent, session.turn_start_state)
    if (session.intent, session.state) != before or session.dialogue.dialogue_act in _ANSWERS:
        return False
    if session.routing.routing_decision == RoutingDecision.APPLY_CORRECTION or session.form.form_leave:
        return False
    read = session.fields_read
    is_noted = read.said_again and not says(session, turn, MoveKind.NEGATE)
    if read.read or read.refused or is_noted:
        return False
    row = session.resolved_schema
    return may_change(session, turn) or (row is not None and leaves_question_open(session, turn, row))


_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)


def _find_refused_field(session: Session, turn: Turn, form: Form, fields: Sequence[Field]) -> Field | None:
    """The open field whose value this message gave and that was refused: the next message will replace it.

    Where the form asks for one field at a time, only a value that was surely meant for its field.
    """
    asks_all = asks_for_all(session, turn, form)
    refusals = [(field, session.fields_read.find_refusal(field.path)) for field in fields]
    return next(
        (field for field, refusal in refusals if refusal and (asks_all or refusal.reason in SURE_REFUSALS)), None
    )


def _find_known_part(session: Session, field: Field) -> str:
    """What a refused value of this message says of the field: the day, the time, or the period that it lies in.

    Of several moments: the first one for several times of one day, the time for one of several days; else blank.
    """
    refusal = session.fields_read.find_refusal(field.path)
    if refusal is None:
        return ""
    kind = field.spec.kind
    candidates = [str(candidate) for candidate in refusal.data.get("candidates") or ()]
    if candidates and kind is Kind.TIME:
        return candidates[0]  # "07:00 or 19:00?"
    if candidates and kind is Kind.DATE_TIME:
        days, times = ({text[part] for text in candidates} for part in (_DAY, _TIME))
        return candidates[0][:_MOMENT] if len(days) == 1 else times.pop() if len(times) == 1 else ""
    return _find_refused_part(refusal, kind)


def _find_refused_part(refusal: RefusedValue, kind: Kind) -> str:
    """The part of a refused value that is known: its hour or day, its week, or its date or time; else blank."""
    data = refusal.data
    if refusal.reason == RefusalReason.OUT_OF_BOUNDS and kind in (Kind.TIME, Kind.DATE):
        return str(data.get("value") or "")  # "6 in the morning", then "7"; "7.8.2062", then "sorry, 2022"
    if refusal.reason == RefusalReason.DAY_MISSING and "from" in data and kind is Kind.DATE:
        return f"{data['from']}..{data['to']}"  # "Next week", then "Wednesday"
    if refusal.reason in (RefusalReason.TIME_MISSING, RefusalReason.DATE_MISSING):
        return str(data.get("date") or data.get("time") or "")
    return ""


def _keep_known_part(session: Session, before: DialogueState, fields: Sequence[Field], asked_field: Field) -> str:
    """What was said of an open field before it is asked for: "is a boat free tomorrow", then "10am"."""
    if before.asked_field == asked_field.path:
        return before.known_part
    waiting = [field for field in fields if field.spec.kind in _IN_PARTS and field is not asked_field]
    known = next((known for field in waiting if (known := _find_known_part(session, field))), "")
    return known or (before.known_part if waiting or asked_field.spec.kind in _IN_PARTS else "")


def _summarize(session: Session, turn: Turn, form: Form) -> str:
    """The filled fields with their titles: `Name: John Smith, date: Friday 27 November 2026`."""
    locale = find_form_locale(session, turn, form)
    values = [(field, session.context.get(field.path)) for field in form.fields]
    return ", ".join(
        f"{write_title(field, '')}: {say_value(field.spec, value, locale).removesuffix('.')}"
        for field, value in values
        if value is not None
    )


def say_fields(session: Session, turn: Turn) -> dict[str, str]:
    """The values of a form with `x-spoken` as its answers say them: a day, a time, the label of an option, none.

    Numbers, amounts and texts stay as they are stored: a text may write the currency itself.
    """
    form = _find_spoken_form(session, turn)
    if form is None:
        return {}
    locale = find_form_locale(session, turn, form)
    values = {field: session.context.get(field.path) for field in form.fields if field.path in session.context}
    left_out = LeftOut(get_tables(locale).say["left_out"])
    return {
        field.path: left_out if value is None else say_value(field.spec, value, locale)
        for field, value in values.items()
        if value is None or field.spec.kind in _SPOKEN
    }


class LeftOut(str):
    """What an answer says of an optional field that was skipped; a condition sees no value."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


def find_truth_words(session: Session, turn: Turn) -> dict[bool, str] | None:
    """How answers of a form with `x-spoken` print true and false. Returns None for another form."""
    form = _find_spoken_form(session, turn)
    if form is None:
        return None
    say = get_tables(find_form_locale(session, turn, form)).say
    return {True: str(say["yes"]), False: str(say["no"])}


def _find_spoken_form(session: Session, turn: Turn) -> Form | None:
    row = session.resolved_schema
    is_spoken = row and isinstance(row.json_schema, Mapping) and row.json_schema.get("x-spoken") is True
    return get_current_form(session, turn, row) if row and is_spoken else None
