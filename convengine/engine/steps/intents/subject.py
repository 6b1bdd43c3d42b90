"""A change of subject while a form is open (R113)."""

from collections.abc import Iterable

from convengine.engine.forms.asking import asks_to_undo, says_only, skips_field
from convengine.engine.forms.extract import Extracted
from convengine.engine.forms.extract.language import NAMED
from convengine.engine.forms.form import Field, get_form
from convengine.engine.forms.leaving import (
    LeaveDecision,
    ask_to_leave,
    decide_on_leave,
    find_left_schema,
    find_rest_beside_leaving,
    notices_other_subjects,
    wants_next,
)
from convengine.engine.forms.life import find_ended_schema
from convengine.engine.forms.read_message import extract_fields, find_asked_fields
from convengine.engine.forms.user_answer import list_locales
from convengine.engine.phrases.matching import has_request
from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.steps.intents.classifiers import classify
from convengine.engine.steps.intents.digression import digress_by_agent, leaves_form, only_counts_persons
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct, RoutingDecision
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind, Reason, says_yes_or_no
from convengine.engine.values.language import Language, get_language

#: What answers the open question is no new subject.
_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)


#: How sure a phrase must be if the message could also be the text that was asked for.
_SURE = 0.9


def find_new_subject(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase that the message matches while a form keeps the intent: of another intent, or of this one again.

    A message that has values of the form is about the form. A text, which may be anything, counts less than a phrase
    that matches as a whole.
    """
    schema = find_left_schema(session, turn)
    if schema is None or not notices_other_subjects(session, turn, schema) or not _may_change(session):
        return None
    form = get_form(turn.snapshot, schema)
    asked_field = form.field(DialogueState.of(session).asked_field or "")
    unanswered = form.status(session.context).unanswered
    if asked_field and asked_field.path in unanswered and skips_field(session.user_text, asked_field):
        return None  # "I'll have to look for it first"
    if asked_field and asked_field.required and wants_next(session, turn):
        row = classify(session, turn, session.user_text).winner
        return row if row is not None and code(row.intent_code) == code(session.intent) else None
    extraction = extract_fields(session, turn, form, find_asked_fields(session, turn, schema, form))
    findings = [finding for finding in extraction.extracted if not _says_soon(session, turn, schema, finding)]
    fields = [field for finding in findings if (field := form.field(finding.field))]
    if any(field.spec.kind is not Kind.TEXT or field.spec.long for field in fields):
        return None
    if any(finding.reason == Reason.OUT_OF_BOUNDS for finding in extraction.rejected):
        return None  # "12 kids" is an answer, though one that does not fit.
    classification = classify(session, turn, session.user_text)
    row = classification.winner
    if row is None or code(row.intent_code) in turn.snapshot.returning_intents or only_counts_persons(session, row):
        return None
    if fields and classification.details.get("score", 0) < _SURE:
        return None
    is_other = _is_other_subject(session, turn, code(row.intent_code))
    return row if is_other or all(_takes_names(field) for field in fields) else None


def find_following_subject(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase of another intent beside words that leave the form: "never mind the bikes, I need the warden".

    Another form must be asked for: "forget it, my wife has the spare key" tells why.
    """
    rest = find_rest_beside_leaving(session, turn)
    row = None if blank(rest) else classify(session, turn, rest).winner
    if row is None or not _is_other_subject(session, turn, code(row.intent_code)):
        return None
    return row if leaves_form(row) or has_request(rest) else None


def _says_soon(session: Session, turn: Turn, schema: rows.OutputSchema, finding: Extracted) -> bool:
    """True for the "straight away" of "I'd rather rent one straight away"; not for a message that says nothing else."""
    text, (start, end) = session.user_text or "", finding.span
    languages = (get_language(locale) for locale in list_locales(session, turn, schema))
    return end - start < len(text.strip()) and any(
        language.is_in("soon_words", text[start:end]) for language in languages
    )


def _takes_names(field: Field) -> bool:
    return any(not NAMED.isdisjoint(label) for label in field.labels)


def accepts_offered_subject(session: Session, turn: Turn) -> bool:
    """True when the answer to "Do you want to stop this and go on with X?" is a yes that names X, "yes, the home visit
    please", or says nothing but that name.
    """
    intent, text = DialogueState.of(session).leaving, session.user_text or ""
    schema = find_left_schema(session, turn) if intent else None
    if schema is None or intent is None or "?" in text:
        return False
    languages = [get_language(locale) for locale in list_locales(session, turn, schema)]
    if any(_denies_or_waits(text, language) for language in languages):
        return False
    words = (token.text for token in languages[0].read_tokens(text).tokens)
    plain = " ".join(word for word in words if not any(language.is_in("changes", word) for language in languages))
    row, named = turn.snapshot.row(rows.Intent, intent), _list_terms([plain])
    name = _list_terms([row.name]) if row is not None else set()
    if any(_begins_with_yes(text, language) for language in languages):
        winner = classify(session, turn, text).winner
        return (bool(name) and name <= named) or (winner is not None and code(winner.intent_code) == intent)
    return bool(named & name) and named <= _list_terms(_list_texts(turn, intent))


def _begins_with_yes(text: str, language: Language) -> bool:
    first = language.read_tokens(text).tokens[:1]
    return bool(first) and says_yes_or_no(first[0].text, language.name) is True


def _denies_or_waits(text: str, language: Language) -> bool:
    """True for "not the home visit" and "yes, but first the appointment"."""
    tokens = language.read_tokens(text).tokens
    return any(language.is_in(table, token.text) for token in tokens for table in ("denials", "leading_no", "delays"))


def stay_at_question(session: Session, turn: Turn, intent: str) -> Session | None:
    """The session that keeps its open question when a model recognised this intent; null to go on with the intent."""
    if digressing := digress_by_agent(session, turn, intent):
        return digressing
    return ask_to_leave(session, turn, intent) if asks_before_leaving(session, turn, intent) else None


def asks_before_leaving(session: Session, turn: Turn, intent: str) -> bool:
    """True for another subject at the confirmation of a form that asks before it is left."""
    schema = find_left_schema(session, turn)
    if schema is None or not notices_other_subjects(session, turn, schema):
        return False
    return _is_other_subject(session, turn, intent) and decide_on_leave(session, turn, schema) is LeaveDecision.ASK


def _is_other_subject(session: Session, turn: Turn, intent: str) -> bool:
    """True for another intent that does not only answer and return."""
    return intent != code(session.intent) and intent not in turn.snapshot.returning_intents


def _may_change(session: Session) -> bool:
    params = session.input_params
    if blank(session.user_text) or session.digression is not None or session.transitions:
        return False
    corrects = params.get("routing_decision") == RoutingDecision.APPLY_CORRECTION
    return not corrects and params.get("dialogue_act") not in _ANSWERS


def asks_to_undo_done_form(session: Session, turn: Turn, row: rows.Classifier) -> bool:
    """True for "cancel my appointment" after the form was done, if its intent has no phrases for that.

    `row` is the phrase that would take the message: of the same intent, which would begin again, or of another one that
    does not know what should be cancelled.
    """
    text = session.user_text
    if not asks_to_undo(text) or code(session.state) == UNKNOWN or find_ended_schema(session, turn) is None:
        return False
    own = _list_texts(turn, code(session.intent))
    if any(map(asks_to_undo, own)):
        return False
    named = _list_terms([text or ""])
    if code(row.intent_code) == code(session.intent) or not named:
        return True
    unknown = named - _list_terms(_list_texts(turn, code(row.intent_code)))
    return row.is_phrase and bool(unknown) and (says_only(text, "cancel_this") or bool(unknown & _list_terms(own)))


def _list_texts(turn: Turn, intent: str) -> list[str]:
    """The phrases of an intent, and its name."""
    known = turn.snapshot.row(rows.Intent, intent)
    listed = turn.snapshot.enabled_rows(rows.Classifier)
    return [*([known.name] if known else []), *(row.pattern or "" for row in listed if code(row.intent_code) == intent)]


def _list_terms(texts: Iterable[str]) -> set[str]:
    """The telling words, without those that cancel or change something."""
    words = (
        word for text in texts for language in detect_languages(text) for word in read_telling_words(text, language)
    )
    return {word.term for word in words if not asks_to_undo(word.text)}
