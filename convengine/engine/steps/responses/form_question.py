"""What a form asks for in this answer."""

from collections.abc import Mapping, Sequence

from convengine.engine.forms.asking import (
    ASK,
    ASK_AGAIN,
    DONE,
    INVALID,
    find_form_language,
    find_form_locale,
    find_open_fields,
    get_texts,
    list_filled_fields,
    write_change_question,
    write_needed,
    write_question,
    write_question_for_all,
    write_refusal,
    write_title,
    write_why,
)
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.life import (
    ClearCause,
    OnNo,
    awaits_confirmation,
    clear_form,
    is_final_state,
    leave_old_form,
    read_on_no,
)
from convengine.engine.forms.message import read_message
from convengine.engine.forms.offers import write_offer
from convengine.engine.forms.session_form import remember_schema, set_form_facts
from convengine.engine.forms.settings import ASK as ASK_MODE
from convengine.engine.forms.settings import ECHO
from convengine.engine.forms.user_answer import begins_with_yes, may_change, says, says_only
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.rules.actions.refuse_value import NOT_ALLOWED
from convengine.engine.steps.responses.not_understood import find_hand_over_intent, lacks_model
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import ActionStatus, DialogueAct, RoutingDecision
from convengine.engine.turn.rows import Response
from convengine.engine.turn.scope import ANY, HAND_OVER
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.language import find_language
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.say import say_value
from convengine.engine.understanding.span import Reason
from convengine.json_value import Json

#: Kinds of values that are stored otherwise than people say them.
_SPOKEN = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION, Kind.CHOICE, Kind.PHONE)
#: Reasons that refuse a value which was surely meant for its field.
_SURE_REFUSALS = (Reason.OUT_OF_BOUNDS, Reason.INVALID_DATE, Reason.INVALID_TIME, Reason.WEEKDAY_MISMATCH, NOT_ALLOWED)
#: The parts of a stored moment.
_DAY, _TIME, _MOMENT = slice(0, 10), slice(11, 16), 16
#: Kinds of values that may be said in two messages.
_IN_PARTS = (Kind.DATE, Kind.DATE_TIME)
_SLOTS = ("pending_slot", "pendingSlot")


def clear_done_form(session: Session, turn: Turn) -> Session:
    """The session after the answer: a form that is done or refused leaves the context."""
    row, result = session.resolved_schema, session.action.pending_action_result
    if row is None or not session.schema_complete:
        return session
    if result == ActionStatus.EXECUTED or (
        result is None
        and not has_open_action(session, turn)
        and is_final_state(turn.snapshot, session.intent, session.state)
    ):
        return clear_form(session, turn, row, ClearCause.DONE)
    if result == ActionStatus.REJECTED and read_on_no(row) is None:
        return clear_form(session, turn, row, ClearCause.CANCEL)
    return session


def is_asking(session: Session) -> bool:
    """True while the form of the session is incomplete."""
    return session.resolved_schema is not None and not session.schema_complete


def ask_next_field(session: Session, turn: Turn) -> Session:
    """The session with the field that the answer asks for, and its question; without one when no form is open.

    Later states of the intent know the form.
    """
    session = remember_schema(leave_old_form(session, turn), session.resolved_schema)
    session = _note_removed_fields(session, turn)
    before = DialogueState.of(session)
    if session.resolved_schema and session.schema_complete:
        session = session.evolve(
            form_summary=_summarize(session, turn, get_form(turn.snapshot, session.resolved_schema))
        )
    form = get_form(turn.snapshot, session.resolved_schema) if session.resolved_schema and is_asking(session) else None
    fields = find_open_fields(form, session.context) if form else []
    field = _find_pending_slot(session, form) or _find_refused_field(session, turn, form, fields)
    field = field or _choose_open_field(before, fields)
    if form is None or field is None:
        return update_dialogue(session, asked_field=None, misses=0, listed_options=(), known_part="", echoed=())
    options = tuple(option.value for option in field.spec.options) or _find_offered(session, field, before)
    session = update_dialogue(
        session,
        asked_field=field.path,
        misses=before.misses if before.asked_field == field.path else 0,
        listed_options=options,
        known_part=_find_known_part(session, field) or _keep_known_part(session, before, fields, field),
        offered=dict(session.fields_read.offered) if session.fields_read else {},
        echoed=tuple(field.path for field in _list_echoed(session, turn, form)),
    )
    return session.evolve(form_question=_write_question(session, turn, form, field, fields))


def _choose_open_field(before: DialogueState, fields: Sequence[Field]) -> Field | None:
    """The field that is asked for: first what the last answer repeated, and a "no" emptied; last what is offered."""
    ranked = sorted(fields, key=lambda field: (field.path not in before.echoed, field.path in before.open_offers))
    return ranked[0] if ranked else None


def ask_for_change(session: Session, turn: Turn) -> Session | None:
    """The session that asks what to change, after a message to the confirmation that gave nothing.

    A yes that follows must not confirm what the user wanted otherwise. To a message that begins with a yes, the summary
    is repeated in other words. Returns None if no form with `x-on-no` waits.
    """
    row = session.resolved_schema
    if row is None or read_on_no(row) is not OnNo.ASK_WHAT_TO_CHANGE or not _says_nothing_known(session, turn):
        return None
    form = get_form(turn.snapshot, row)
    language, fields = find_form_language(session, turn, form), list_filled_fields(form, session.context)
    if begins_with_yes(session, turn):
        again = str(get_texts(language)["confirm_again"]).format(summary=session.form_summary)
        return session.evolve(form_question=again)
    question = write_change_question(fields, language)
    session = update_dialogue(session, asked_field=None, listed_options=tuple(field.path for field in fields))
    return session.evolve(form_question=str(get_texts(language)["ask_again"]).format(question=question))


def _says_nothing_known(session: Session, turn: Turn) -> bool:
    """True for a message to the confirmation that may change something, and that nobody took up."""
    if not awaits_confirmation(session, turn) or session.digression or session.reply_override:
        return False
    before = (session.turn_start_intent, session.turn_start_state)
    if (session.intent, session.state) != before or session.dialogue.dialogue_act in _ANSWERS:
        return False
    if session.routing.routing_decision == RoutingDecision.APPLY_CORRECTION or session.form.form_leave:
        return False
    gives = session.fields_read and (session.fields_read.read or session.fields_read.refused)
    return not gives and may_change(session, turn)


_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)


def _find_offered(session: Session, field: Field, before: DialogueState) -> tuple[Json, ...]:
    """The values that a refusal of the asked field names, "16 or 23 October?"; they stay offered until it is read."""
    refusal = session.fields_read.find_refusal(field.path) if session.fields_read else None
    if refusal is not None:
        return tuple(refusal.data.get("candidates") or ())
    return before.listed_options if before.asked_field == field.path else ()


def _note_removed_fields(session: Session, turn: Turn) -> Session:
    """The session whose form is incomplete again, if a rule removed one of its fields."""
    row = session.resolved_schema
    if row is None or not session.schema_complete:
        return session
    status = get_form(turn.snapshot, row).status(session.context)
    return session if status.complete else set_form_facts(session, row, status)


def _find_refused_field(session: Session, turn: Turn, form: Form | None, fields: Sequence[Field]) -> Field | None:
    """The open field whose value this message gave and that was refused: the next message will replace it.

    Where the form asks for one field at a time, only a value that was surely meant for its field.
    """
    if form is None or session.fields_read is None:
        return None
    asks_all = _read_ask_mode(session, turn, form) == "ALL"
    refusals = [(field, session.fields_read.find_refusal(field.path)) for field in fields]
    return next(
        (field for field, refusal in refusals if refusal and (asks_all or refusal.reason in _SURE_REFUSALS)), None
    )


def _read_ask_mode(session: Session, turn: Turn, form: Form) -> str:
    return str(form.schema.get("x-ask-mode") or turn.config(session, ASK_MODE))


def _find_known_part(session: Session, field: Field) -> str:
    """What a refused value of this message says of the field: the day, the time, or the period that it lies in."""
    refusal = session.fields_read.find_refusal(field.path) if session.fields_read else None
    if refusal is None:
        return ""
    data = refusal.data
    candidates = [str(candidate) for candidate in data.get("candidates") or ()]
    if candidates and field.spec.kind is Kind.TIME:
        return candidates[0]  # "07:00 or 19:00?"
    if candidates and field.spec.kind is Kind.DATE_TIME:
        days, times = ({text[part] for text in candidates} for part in (_DAY, _TIME))
        return candidates[0][:_MOMENT] if len(days) == 1 else times.pop() if len(times) == 1 else ""
    if refusal.reason == Reason.OUT_OF_BOUNDS and field.spec.kind in (Kind.TIME, Kind.DATE):
        return str(data.get("value") or "")  # "6 in the morning", then "7"; "7.8.2062", then "sorry, 2022"
    if refusal.reason == Reason.DAY_MISSING and "from" in data and field.spec.kind is Kind.DATE:
        return f"{data['from']}..{data['to']}"  # "Next week", then "Wednesday"
    if refusal.reason in (Reason.TIME_MISSING, Reason.DATE_MISSING):
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
    """`Name: John Smith, date: Friday 27 November 2026`."""
    locale = find_form_locale(session, turn, form)
    values = [(field, session.context.get(field.path)) for field in form.fields]
    return ", ".join(
        f"{write_title(field, '')}: {say_value(field.spec, value, locale)}"
        for field, value in values
        if value is not None
    )


def say_fields(session: Session, turn: Turn) -> dict[str, str]:
    """The values of a form with `x-spoken` as its answers say them: a day, a time, the label of an option.

    Numbers, amounts, texts and yes or no stay as they are stored: a text may write the currency itself.
    """
    row = session.resolved_schema
    if row is None or not isinstance(row.json_schema, Mapping) or row.json_schema.get("x-spoken") is not True:
        return {}
    form = get_form(turn.snapshot, row)
    locale = find_form_locale(session, turn, form)
    values = {field: session.context.get(field.path) for field in form.fields if field.spec.kind in _SPOKEN}
    return {field.path: say_value(field.spec, value, locale) for field, value in values.items() if value is not None}


def _find_pending_slot(session: Session, form: Form | None) -> Field | None:
    slots = (session.context.get(key) for key in _SLOTS)
    return next((field for slot in slots if form and isinstance(slot, str) and (field := form.field(slot))), None)


def _write_question(session: Session, turn: Turn, form: Form, field: Field, fields: Sequence[Field]) -> str:
    state, read = DialogueState.of(session), session.fields_read
    # After a question in between, the open one is asked as if for the first time.
    misses = 0 if session.only_digresses else state.misses
    locale = find_form_locale(session, turn, form)
    language = find_language(locale)
    texts = get_texts(language)
    refusal = read.find_refusal(field.path) if read else None
    names: dict[str, Json] = {
        "value": refusal.text if refusal else None,
        "reason": write_refusal(field, refusal.text, refusal.reason, refusal.data, locale) if refusal else None,
        "options": [option.label for option in field.spec.options],
        "min": refusal.data.get("min", field.spec.minimum) if refusal else field.spec.minimum,
        "max": refusal.data.get("max", field.spec.maximum) if refusal else field.spec.maximum,
        "misses": misses,
    }
    ask = _render(field, ASK, session, turn, names)
    if _read_ask_mode(session, turn, form) == "ALL" and len(fields) > 1 and not refusal:
        ask = write_question_for_all(fields, language)
    asks_about = state.asked_field == field.path and _asks_about(session, turn)
    is_missed = bool(misses) and _is_missed(session, turn) and not lacks_model(turn)
    if not ask or ((refusal or is_missed or asks_about) and _hides_options(ask, field)):
        ask = write_question(field, language)
    if offer := write_offer(session, turn, form):
        question = offer
    elif refusal:
        own = "" if refusal.reason == NOT_ALLOWED else _render(field, INVALID, session, turn, names)
        question = own or texts["invalid"].format(reason=names["reason"], question=ask)
    elif asks_about:
        answer = ask if field.spec.options else write_why(field, language, ask)
        question = _render(field, ASK_AGAIN, session, turn, names) or answer
    elif listed := _offer_again(session, field, locale):
        question = texts["invalid"].format(reason=listed, question=ask)
    elif is_missed:
        question = _render(field, ASK_AGAIN, session, turn, names) or _write_again(session, turn, field, language, ask)
    else:
        question = ask
    done = [
        _render(field_read, DONE, session, turn, names)
        for path in (read.read if read else ())
        if (field_read := form.field(path)) and field_read.texts(DONE)
    ]
    others = _tell_other_refusals(session, form, field, locale)
    echo = _repeat_changes(session, form, locale) or _echo(session, turn, form, locale)
    return " ".join(part for part in (*(done or [echo]), *others, question) if part)


def _asks_about(session: Session, turn: Turn) -> bool:
    """True when the message asks about the asked field: what it is for, or what there is."""
    row = session.resolved_schema
    return row is not None and read_message(session, turn, row).asks_about_asked and not session.digression


def _echo(session: Session, turn: Turn, form: Form, locale: str) -> str:
    """The values that the message did not say in full, as a sentence: "Thursday 26 November 2026." (`Form/ECHO`)."""
    fields = _list_echoed(session, turn, form)
    texts = [say_value(field.spec, session.context.get(field.path), locale) for field in fields]
    return f"{', '.join(texts)}." if texts else ""


def _list_echoed(session: Session, turn: Turn, form: Form) -> list[Field]:
    """The fields whose new values the answer repeats."""
    read, mode = session.fields_read, turn.config(session, ECHO)
    paths = {"NONE": (), "ALL": read.read if read else ()}.get(mode, read.echoed if read else ())
    fields = [field for path in paths if (field := form.field(path)) and not field.texts(DONE)]
    return [field for field in fields if session.context.get(field.path) is not None]


def _write_again(session: Session, turn: Turn, field: Field, language: str, ask: str) -> str:
    """The question once more; to somebody who does not know the value, that it is needed, and who can help."""
    if not (field.required and says(session, turn, MoveKind.SKIP)):
        return str(get_texts(language)["ask_again"]).format(question=ask)
    has_answer = any(turn.snapshot.has_scope(Response, intent, HAND_OVER) for intent in (session.intent, ANY))
    has_person = has_answer or find_hand_over_intent(turn.snapshot) is not None
    return f"{write_needed(field, language, has_person=has_person)} {ask}"


def _offer_again(session: Session, field: Field, locale: str) -> str:
    """Which of the offered values is meant, once more; blank for none."""
    offered = () if field.spec.options else DialogueState.of(session).listed_options
    return write_refusal(field, "", Reason.AMBIGUOUS, {"candidates": offered}, locale) if offered else ""


def _hides_options(question: str, field: Field) -> bool:
    """True when the own question of a choice names none of its options."""
    return bool(field.spec.options) and not any(option.label in question for option in field.spec.options)


def _tell_other_refusals(session: Session, form: Form, asked_field: Field, locale: str) -> list[str]:
    """Why values of fields that are still empty, and not asked for now, were refused."""
    refusals = session.fields_read.refused if session.fields_read else ()
    listed = [(form.field(refusal.field), refusal) for refusal in refusals if refusal.reason in _SURE_REFUSALS]
    return [
        write_refusal(field, refusal.text, refusal.reason, refusal.data, locale)
        for field, refusal in listed
        if field is not None and field.path != asked_field.path and session.context.get(field.path) is None
    ]


def _repeat_changes(session: Session, form: Form, locale: str) -> str:
    """What a correction changed, in full, because the question that follows is about something else."""
    if session.fields_read is None or session.routing.correction_applied is not True:
        return ""
    language = find_language(locale)
    changed = [field for path in session.fields_read.read if (field := form.field(path))]
    if not changed:
        return ""
    values = [
        f"{write_title(field, language)} {say_value(field.spec, session.context.get(field.path), locale)}"
        for field in changed
    ]
    return str(get_texts(language)["changed"]).format(values=", ".join(values))


def _is_missed(session: Session, turn: Turn) -> bool:
    """True when this message was meant as an answer: thanks, a request to wait and a wish to leave are none."""
    small_talk = says_only(session, turn, MoveKind.GREET, MoveKind.THANK, MoveKind.WAIT)
    return not (small_talk or session.form.form_leave)


def _render(field: Field, key: str, session: Session, turn: Turn, names: Mapping[str, Json]) -> str:
    """A text of the field; blank for none, and for one that cannot be filled in."""
    template = field.declared.get(key)
    if not isinstance(template, str) or not template.strip():
        return ""
    return render_lenient(template, build_variables(session, turn, **names)).text.strip()
