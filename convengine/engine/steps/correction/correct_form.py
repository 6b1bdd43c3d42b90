"""Corrections in a form that is being filled and at its confirmation, and answers to offers (docs/forms.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from convengine.engine.forms.form import Form
from convengine.engine.forms.life import OnNo, awaits_confirmation, read_on_no
from convengine.engine.forms.message import (
    find_open_schema,
    make_open_form,
    read_as_open,
    read_message,
    understand_message,
)
from convengine.engine.forms.named_change import read_named_change
from convengine.engine.forms.offers import ask_what_is_meant, ask_what_to_change
from convengine.engine.forms.outdated import list_outdated
from convengine.engine.forms.session_form import (
    decide_schema,
    find_schema,
    find_value,
    get_current_form,
    list_held,
    lock_intent,
    set_form_facts,
)
from convengine.engine.forms.store_reading import (
    TABLES_THEN_WORDS,
    check_reading,
    drop_stale_results,
    drop_values,
    find_extractor,
    list_read,
    list_refused,
    note_fields_read,
    store_reading,
)
from convengine.engine.forms.user_answer import begins_with_yes, read_yes_or_no, says, says_only
from convengine.engine.steps.correction.stages import (
    CORRECTION_STEP_CORRECTION_PATCH_APPLIED,
    CORRECTION_STEP_PATCH_NOT_APPLIED,
)
from convengine.engine.text.compare import blank
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, RoutingDecision
from convengine.engine.turn.owned_params import RoutingParams
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import RefusedValue, Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import OFFER
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading, Taken
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover
from convengine.json_value import Json

#: Acts of messages that correct nothing. "No, make it four" has none of them: it is more than a no.
_NO_CORRECTION = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET, DialogueAct.GREETING)
#: Why an edit is not applied that has no value for the form.
NO_VALUE = "NO_VALUE"
#: Moves that want nothing changed.
_NOTHING = (MoveKind.AFFIRM, MoveKind.PRAISE, MoveKind.STAY, MoveKind.NEGATE, MoveKind.SKIP)


def correct_form(session: Session, turn: Turn, *, allows_edit: bool = False) -> Session:
    """The session with the corrected values; the same session if the message corrects none.

    `allows_edit`: the message is an edit, and the prompt template of the state allows it. Then the form may be one that
    this conversation has not asked for, or one that a model reads.
    """
    row = _find_correctable(session, turn, allows_edit=allows_edit)
    if row is None:
        return session
    form, state = get_current_form(session, turn, row), DialogueState.of(session)
    if refused := _find_refused_echo(session, turn, row, form):
        return _apply(session, turn, row, form, Reading(named=refused))
    outdated = list_outdated(session, turn, form) if awaits_confirmation(session, turn) else []
    if outdated and not read_message(session, turn, row).gives_anything:
        return _apply(session, turn, row, form, Reading(refused=tuple(outdated)))
    if DialogueAct.read(session.dialogue.dialogue_act) in _NO_CORRECTION:
        return session
    if state.offered and (answer := _read_offer_answer(session, turn, row)) is not None:
        return _settle_offer(session, turn, row, form, is_meant=answer)
    if state.asks_what_to_change and says_only(session, turn, *_NOTHING):
        return _route(session, turn, row, form)  # The answer of the state repeats the confirmation.
    if change := _read_named_change(session, turn, row, form):
        return _apply(session, turn, row, form, check_reading(session, turn, row, form, change))
    return (_apply_edit if allows_edit else _apply_correction)(session, turn, row, form)


def _read_named_change(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Reading | None:
    """The change of a field that is named, once the form has all its values, with what else the message changes.

    Returns None for none.
    """
    open_form = make_open_form(session, turn, row, form, is_opener=False)
    if not (open_form.is_confirming or open_form.asks_what_to_change):
        return None
    reading = read_message(session, turn, row)
    change = read_named_change(
        understand_message(session, turn, form),
        open_form,
        lambda path: read_as_open(session, turn, row, [path], asked_path=path),
        only_texts=reading.gives_anything,
    )
    text = change.taken[0] if change and change.taken else None
    if change is None or text is None:
        return change
    others = (item for item in reading.taken if not (text.start < item.end and item.start < text.end))
    return replace(change, taken=(*change.taken, *(item for item in others if item.field != text.field)))


def _find_correctable(session: Session, turn: Turn, *, allows_edit: bool) -> OutputSchema | None:
    """The schema of the form whose values the message may correct. Returns None if there is none, or it is broken."""
    state, act = DialogueState.of(session), DialogueAct.read(session.dialogue.dialogue_act)
    is_open = state.last_schema is not None or allows_edit
    corrects = act not in _NO_CORRECTION or (act is DialogueAct.NEGATE and bool(state.echoed))
    if not is_open or not corrects or session.reply_override or blank(session.user_text):
        return None
    row = find_open_schema(session, turn)
    return None if row is None or get_current_form(session, turn, row).problem else row


def _apply_correction(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """Store the values of the message, if one of them replaces a value that the form has."""
    # No model reads the form of an earlier state.
    is_own = find_schema(turn.snapshot, session.intent, session.state) is row
    held, extractor = list_held(session, form), find_extractor(session, turn) if is_own else None
    if not held or extractor == "LLM":
        return session
    reading = check_reading(session, turn, row, form, read_message(session, turn, row))
    if held.keys().isdisjoint(reading.fields) and not reading.named:
        return session
    # What mere offers mean, a model decides when the form is read.
    is_doubtful = bool(reading.offered) and not (reading.taken or reading.refused or reading.cleared or reading.named)
    is_for_model = is_doubtful and extractor == TABLES_THEN_WORDS
    return session if is_for_model else _apply(session, turn, row, form, reading)


def _find_refused_echo(session: Session, turn: Turn, row: OutputSchema, form: Form) -> tuple[str, ...]:
    """The fields whose repeated values a bare "no" takes back; none if it answers the question.

    At the confirmation a "no" has its own meaning.
    """
    state = DialogueState.of(session)
    if not state.echoed or state.offered or form.status(session.context).complete:
        return ()
    if read_yes_or_no(session, turn) is not False or read_message(session, turn, row).gives_anything:
        return ()
    return tuple(path for path in state.echoed if find_value(session.context, path) is not None)


def _read_offer_answer(session: Session, turn: Turn, row: OutputSchema) -> bool | None:
    """Whether offered values are meant: by a yes or a no, or a yes with one of them or with what changes nothing.

    Returns None for other messages.
    """
    answer, understanding = read_yes_or_no(session, turn), understand_message(session, turn)
    if answer is not None or not begins_with_yes(session, turn) or understanding.is_doubted:
        return answer
    offered, reading = DialogueState.of(session).offered, read_message(session, turn, row)
    if reading.refused or reading.cleared or reading.named:
        return None
    form = get_current_form(session, turn, row)
    again = [*read_as_open(session, turn, row, offered).taken, *reading.taken]
    return None if any(_says_other(form, item, offered, understanding) for item in again) else True


def _says_other(form: Form, item: Taken, offered: Mapping[str, Json], understanding: Understanding) -> bool:
    """True for a value beside a yes that is not the offered one. Other words replace no text, nor "Friday" a day."""
    field = form.field(item.field)
    if item.field not in offered or offered[item.field] == item.value or field is None:
        return False
    if field.spec.kind in (Kind.TEXT, Kind.PERSON):
        return False
    has_number = any(character.isdigit() for character in understanding.text[item.start : item.end])
    if has_number or field.spec.kind is not Kind.DATE:
        return True
    return len({date.fromisoformat(str(value)).weekday() for value in (item.value, offered[item.field])}) > 1


def _settle_offer(session: Session, turn: Turn, row: OutputSchema, form: Form, *, is_meant: bool) -> Session:
    """Store the offered values after a yes; after a no, the form asks for them."""
    state = DialogueState.of(session)
    offered = state.offered
    session = update_dialogue(session, offered={})
    if not is_meant:
        # The question follows, in other words than at first.
        is_missed = state.asked_field in offered
        return _route(update_dialogue(session, misses=state.misses + is_missed), turn, row, form)
    besides = (item for item in read_message(session, turn, row).taken if item.field not in offered)
    reading = Reading((*(Taken(path, value, 0, 0, OFFER) for path, value in offered.items()), *besides))
    reading = check_reading(session, turn, row, form, reading)
    session = _route(store_reading(session, form, reading), turn, row, form)
    return note_fields_read(session, turn, row, list_read(form, reading), (), reading)


def _apply_edit(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """Store all values of an edit, or none of them."""
    reading = check_reading(session, turn, row, form, read_message(session, turn, row))
    refused = list_refused(reading)
    if refused or not reading.gives_anything:
        _audit_not_applied(session, turn, refused or [RefusedValue("", "", NO_VALUE)])
        return session
    return _apply(session, turn, row, form, reading)


def _apply(session: Session, turn: Turn, row: OutputSchema, form: Form, reading: Reading) -> Session:
    """Store all values of the message. A value that is refused is asked for again."""
    before, refused, fields = session.context, list_refused(reading), list_read(form, reading)
    dropped = [refusal.field for refusal in refused if _is_to_change(session, turn, reading, refusal.field)]
    session = store_reading(drop_values(session, dropped), form, reading)
    session = _route(session, turn, row, form, {refusal.field: refusal.reason for refusal in refused})
    is_edit = DialogueAct.read(session.dialogue.dialogue_act) is DialogueAct.EDIT
    changed = [path for path in fields if is_edit or find_value(before, path) is not None]
    session = session.with_values(
        RoutingParams(
            correction_applied=bool(changed),
            correction_target_field=next(iter(changed), None),
            correction_fields=changed,
        )
    )
    cleared = (path for path in reading.cleared if path not in fields)
    _audit_applied(session, turn, (*fields, *reading.named, *cleared), before)
    _audit_not_applied(session, turn, refused)
    session = note_fields_read(session, turn, row, fields, refused, reading)
    if reading.offered:
        return ask_what_is_meant(session, turn, form)
    is_complete = not refused and form.status(before).complete and session.schema_complete
    if not (is_complete and _wants_more(session, turn, form, reading) and read_on_no(row) is OnNo.ASK_WHAT_TO_CHANGE):
        return session
    # A yes that follows must not confirm what the rest of the message wanted otherwise.
    return ask_what_to_change(session, turn, form, list(list_held(session, form)), changed=reading.fields)


def _wants_more(session: Session, turn: Turn, form: Form, reading: Reading) -> bool:
    """True if a denial or words that nothing explains have the name of another field, or such words another value.

    Why something changes ("that is my wife's number") is no other change.
    """
    understanding = understand_message(session, turn, form)
    changed, small = {item.field for item in reading.taken}, cover(understanding.cues)
    words = [word.start for index, word in enumerate(understanding.words) if index not in small]
    named = {at for path, at, _ in reading.names if path not in changed}.intersection(words)
    untaken = {understanding.words[span.start].start for span in _list_untaken(understanding, reading)}
    unexplained = {at for at, _ in reading.unexplained}
    for clause in understanding.clauses:
        denies = clause.force is Force.DENIES
        starts = range(*understanding.find_position(clause.start, clause.end))
        says_more = not unexplained.isdisjoint(starts)
        names_other = (denies or says_more) and not named.isdisjoint(starts)
        if names_other or (says_more and not denies and not untaken.isdisjoint(starts)):
            return True
    return False


def _list_untaken(understanding: Understanding, reading: Reading) -> list[Span]:
    """The plain values of a message that no field took. Any new word may be a name."""
    plain = (span for span in understanding.spans if not (span.is_weak or span.sort is Sort.PERSON))
    starts = ((span, understanding.words[span.start].start) for span in plain)
    return [span for span, at in starts if not any(item.start <= at < item.end for item in reading.taken)]


def _is_to_change(session: Session, turn: Turn, reading: Reading, path: str) -> bool:
    """True where the message says that the value of a field is to change, by the field's name or a word for it."""
    state = DialogueState.of(session)
    is_named = any(name == path for name, _, _ in reading.names)
    is_expected = path in (state.asked_field, *state.echoed) or state.asked_field is None
    return is_named or is_expected or says(session, turn, MoveKind.CORRECT, MoveKind.NEGATE, MoveKind.CLEAR)


def _audit_applied(session: Session, turn: Turn, paths: Sequence[str], before: Mapping[str, Json]) -> None:
    """Record each corrected field with its value now and before."""
    for path in paths:
        values = {"value": find_value(session.context, path), "previousValue": find_value(before, path)}
        audit_routing(session, turn, CORRECTION_STEP_CORRECTION_PATCH_APPLIED, field=path, **values)


def _audit_not_applied(session: Session, turn: Turn, refused: Sequence[RefusedValue]) -> None:
    for refusal in refused:
        why = {"reason": refusal.reason, "field": refusal.field or None}
        audit_routing(session, turn, CORRECTION_STEP_PATCH_NOT_APPLIED, **why)


def audit_routing(session: Session, turn: Turn, stage: Stage, **details: Json) -> None:
    """Record a stage of the routing with the session's intent, state and decision."""
    decision = session.routing.routing_decision
    turn.audit(session, stage, **details, **session.where, routingDecision=decision)


def _route(
    session: Session, turn: Turn, row: OutputSchema, form: Form, reasons: dict[str, str] | None = None
) -> Session:
    """The session that needs no intent and no extraction, with the facts of the changed form.

    `reasons` says by field why a value was refused.
    """
    is_own = find_schema(turn.snapshot, session.intent, session.state) is row
    if is_own:
        decide_schema(session, turn)
    session = drop_stale_results(session, turn)
    session = set_form_facts(session, row, form, reasons)
    session = lock_intent(session, session.schema_complete or not is_own)
    return update_dialogue(session, listed_options=()).with_values(
        RoutingParams(
            routing_decision=RoutingDecision.APPLY_CORRECTION.value,
            skip_schema_extraction=True,
            skip_intent_resolution=True,
        )
    )
