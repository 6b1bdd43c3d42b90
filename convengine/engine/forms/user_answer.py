"""What a message says in the languages of the form and of the conversation: yes, no, or that it starts over."""

import re
from collections.abc import Sequence
from typing import Any

from convengine.engine.forms.asking import (
    asks_for_next,
    find_form_locale,
    find_language,
    get_texts,
    is_one_of,
    must_ask_own_person,
    says_only,
    wants_to_speak,
)
from convengine.engine.forms.extract.correct_texts import read_other_name
from convengine.engine.forms.extract.correction import read_correction
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.sentence_values import list_specs, read_inclusions
from convengine.engine.forms.form import Form, get_form, is_meaningful
from convengine.engine.forms.read_message import describe_situation, find_value
from convengine.engine.forms.session_form import find_known_schema, find_schema
from convengine.engine.phrases.matching import match_phrases
from convengine.engine.text.compare import code
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.rows import Intent, OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    adds_wish,
    agrees_behind_no,
    confirms_behind_no,
    find_values,
    finds_fault,
    is_passing_moment,
    names_day,
    orders_action,
    read_opening,
    says_yes_or_no,
)

Json = Any
#: Between a yes and what follows it.
_JOINT = re.compile(r"[,;.!]+\s+|\s(?=(?:and|und)\s)", re.IGNORECASE)
#: Longest yes that a wish follows, in characters.
_LONGEST_OPENING = 80
_QUESTION = re.compile(r"[^.!?:\n]+\?\s*$")


def find_open_schema(session: Session, turn: Turn) -> OutputSchema | None:
    """The schema of the intent and state, else the one that later states of the intent know."""
    return find_schema(turn.snapshot, session.intent, session.state) or find_known_schema(session, turn)


def read_yes_or_no(session: Session, turn: Turn, row: OutputSchema | None) -> bool | None:
    """The yes or no that the whole message says; null for other messages."""
    answers = (says_yes_or_no(session.user_text or "", locale) for locale in list_locales(session, turn, row))
    return next((answer for answer in answers if answer is not None), None)


def read_confirmation(session: Session, turn: Turn, row: OutputSchema) -> bool | None:
    """The yes or no to the confirmation of a form; null for other messages.

    "No, all correct" is a yes. Of "no, that's fine", it is open which of the two is meant.
    """
    text, locales = session.user_text or "", list_locales(session, turn, row)
    if any(agrees_behind_no(text, locale) for locale in locales):
        return True if any(confirms_behind_no(text, locale) for locale in locales) else None
    if _names_somebody_else(session, turn, row):
        return None
    answer = read_yes_or_no(session, turn, row)
    if answer is None and any(finds_fault(text, locale) for locale in locales):
        return False
    if answer is None and any(orders_action(text, _find_last_question(session), locale) for locale in locales):
        return True
    if answer is None and must_ask_own_person(text):
        return None
    if answer is None and _goes_on(session, turn, locales):
        return True
    return read_opening_answer(session, turn, row) if answer is None else answer


def _goes_on(session: Session, turn: Turn, locales: Sequence[str]) -> bool:
    """True for a yes with a wish of its own behind it: "yes book it. And then I need another one for my sister"."""
    text = session.user_text or ""
    for joint in _JOINT.finditer(text, 0, _LONGEST_OPENING):
        opening, rest = text[: joint.start()], text[joint.end() :]
        if any(says_yes_or_no(opening, locale) for locale in locales):
            return any(adds_wish(rest, locale) for locale in locales) and _wishes_something_else(session, turn, rest)
    return False


def _wishes_something_else(session: Session, turn: Turn, text: str) -> bool:
    """True for a wish for another intent or for one more. Somebody who asks for a person has not decided yet."""
    if wants_to_speak(text):
        return False
    if asks_for_next(text, name_subject(session, turn)):
        return True
    snapshot = turn.snapshot
    hits = {code(match.intent) for match in match_phrases(snapshot, text).hits}
    others = hits - {code(session.intent), *snapshot.returning_intents}
    return bool(others) and others.isdisjoint(snapshot.hand_over_intents)


def name_subject(session: Session, turn: Turn) -> str:
    """What the form is for: the name of its intent."""
    intent = turn.snapshot.row(Intent, session.intent) if session.intent else None
    return intent.name if intent else ""


def _names_somebody_else(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True for "yes, book it for Tom Hill" where the form has another name."""
    form = get_form(turn.snapshot, row)
    situation = describe_situation(session, turn, form)
    return read_other_name(form, session.user_text or "", _list_held(session, form), situation, None) is not None


def _list_held(session: Session, form: Form) -> dict[str, Json]:
    """The values that the form has."""
    held = {field.path: find_value(session.context, field.path) for field in form.leaves}
    return {path: value for path, value in held.items() if is_meaningful(value)}


def _find_last_question(session: Session) -> str:
    """The question that ends the last answer; blank without one."""
    match = _QUESTION.search(session.history[-1].assistant) if session.history else None
    return match.group() if match else ""


def read_opening_answer(session: Session, turn: Turn, row: OutputSchema) -> bool | None:
    """The yes or no that begins the message if nothing else in it counts: "yes lovely", "yes, Friday is fine".

    Null if it says another value than the form has, or names a field after a no: "no, the date is wrong".
    """
    form, text = get_form(turn.snapshot, row), session.user_text or ""
    situation, reading = describe_situation(session, turn, form), Reading(text)
    spans = [
        (span.start, span.end, {path: value.value for path, value in span.readings.items()})
        for span in find_values(list_specs(form, form.leaves), text, situation)
        if not is_passing_moment(text[span.start : span.end], situation)
    ]
    yes_no_fields = [field for field in form.leaves if field.spec.kind is Kind.YES_NO]
    for item in read_inclusions(reading, yes_no_fields, situation):
        spans.append((*reading.span(item.start, item.end), {item.field.path: item.value}))
    for start, end, values in spans:
        if all(find_value(session.context, path) != value for path, value in values.items()):
            return None
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    locales = list_locales(session, turn, row)
    answer = next((value for locale in locales if (value := read_opening(text, locale)) is not None), None)
    if answer and any(field.spec.kind in (Kind.DATE, Kind.DATE_TIME) for field in form.leaves):
        return None if any(names_day(text, locale) for locale in locales) else True
    is_change = answer is False and (find_mentions(reading, form.leaves) or _changes_value(session, form, situation))
    return None if is_change else answer


def _changes_value(session: Session, form: Form, situation: ReadingSituation) -> bool:
    """True for a message that says which value is another: "no, it's Saturday, not Friday"."""
    change = read_correction(form, session.user_text or "", _list_held(session, form), situation, is_expected=True)
    return change is not None and bool(change.extracted)


def starts_over(session: Session, turn: Turn) -> bool:
    """True when the whole message asks to start over in another language than that of the patterns."""
    if not says_only(session.user_text, "start_over"):
        return False
    locales = list_locales(session, turn, find_open_schema(session, turn))
    return any(is_one_of(session.user_text, get_texts(find_language(locale))["start_over"]) for locale in locales)


def list_locales(session: Session, turn: Turn, row: OutputSchema | None) -> tuple[str, ...]:
    """The locale of the form, then that of the conversation."""
    form = get_form(turn.snapshot, row) if row else None
    return tuple(dict.fromkeys((find_form_locale(session, turn, form), turn.config(session, LOCALE))))
