"""A message beside the open question: one that is answered there, or one that leaves for a person (R110, R112)."""

from collections.abc import Sequence
from dataclasses import replace

from convengine.engine.clarification import collision
from convengine.engine.forms.asking import (
    asks_for_another,
    asks_for_options,
    asks_for_person,
    find_form_locale,
    find_questions,
    is_phrase,
    is_question,
    skips_field,
    talks_to_own_person,
    tells_about_user,
)
from convengine.engine.forms.extract.place_names import asks_for_text
from convengine.engine.forms.form import get_form, is_meaningful
from convengine.engine.forms.life import awaits_confirmation
from convengine.engine.forms.read_message import describe_situation, find_value
from convengine.engine.forms.session_form import find_asked_field, find_schema
from convengine.engine.pending_actions.disambiguation import SOURCE, has_open_action
from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.steps.intents.classifiers import Classification, classify, order_classifiers
from convengine.engine.text.compare import blank, code
from convengine.engine.text.words import fold
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, DialogueAct, Lifecycle, PolicyDecision, RoutingDecision
from convengine.engine.turn.scope import ANY, HAND_OVER, IDLE, UNKNOWN
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind, Reason, read_value
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import has_sentence_word

#: Fewest telling words of a statement that answers a free-text field.
_FEWEST_WORDS = 3
#: Why a value that was surely meant for its field is not complete, or cannot be taken.
_IN_PART = (
    Reason.AMBIGUOUS, Reason.DAY_MISSING, Reason.TIME_MISSING, Reason.DATE_MISSING, Reason.UNIT_MISSING,
    Reason.OUT_OF_BOUNDS, Reason.INVALID_DATE, Reason.INVALID_TIME, Reason.WEEKDAY_MISMATCH, Reason.NOT_WHOLE,
)  # fmt: skip
#: What answers the open question is no digression.
_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)
_DECISIONS = (PolicyDecision.EXECUTE_PENDING_ACTION, PolicyDecision.REJECT_PENDING_ACTION)
_ROUTES = (RoutingDecision.PROCEED_CONFIRMED, RoutingDecision.RETRY_IN_PLACE)


def find_interruption(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase that the message matches while a form or a slot keeps the intent.

    Only the phrases that may interrupt are tried; without any, nothing happens. In a message that also says something
    else, the question counts.
    """
    if not turn.snapshot.interrupting_classifiers or not _may_interrupt(session, turn):
        return None
    text = find_questions(session.user_text) or session.user_text
    classification = classify(session, turn, text, interrupting=True)
    row = classification.winner
    if row is None and turn.snapshot.returning_intents.issuperset(classification.intents):
        # Any of the answers leads back, so the best one is better than none.
        row = classification.find_best(classification.intents)
    if row is None or code(row.intent_code) == code(session.intent):
        return None
    if _chooses_option(session, turn) if leaves_form(row) else _says_more(session, turn, row):
        return None
    if only_counts_persons(session, row):
        return None
    own = turn.snapshot.list_questions_beside(session.intent)
    return None if code(row.intent_code) not in own and asks_for_field_options(session, turn) else row


def asks_for_field_options(session: Session, turn: Turn) -> bool:
    """True when the message asks what there is to choose from for the asked field."""
    field = find_asked_field(session, turn)
    return field is not None and asks_for_options(session.user_text, field)


def leaves_form(row: rows.Classifier) -> bool:
    """True for a phrase that asks for a person: the form is left for its intent."""
    return code(row.state_code) == HAND_OVER


def only_counts_persons(session: Session, row: rows.Classifier) -> bool:
    """True for "8:15 and it's for 6 people", which has a word of "I want to talk to a person" and asks for nobody.

    So has "I have to talk to my husband".
    """
    text = session.user_text or ""
    if leaves_form(row) and talks_to_own_person(text):
        return True
    if not leaves_form(row) or asks_for_person(text, must_speak=True):
        return False
    return asks_for_another(text) or any(
        any(map(str.isdigit, token.text)) or language.number_words.get(token.text, 0) > 1
        for language in map(get_language, list_languages())
        for token in language.read_tokens(text).tokens
    )


def find_returning_row(session: Session, turn: Turn, classification: Classification) -> rows.Classifier | None:
    """The matching phrase of an intent that answers and returns, while a question is open and no lock holds.

    Phrases of the current intent may match too. Of several such intents the best one is answered: each leads back.
    """
    returning = turn.snapshot.returning_intents
    if not returning or not _has_open_question(session, turn) or not _may_interrupt(session, turn):
        return None
    if not classification.hits:
        # It may say something else, too, that hides what it asks.
        part = find_questions(session.user_text)
        row = find_interruption(session, turn) if part not in ("", (session.user_text or "").strip()) else None
        return None if row is None or leaves_form(row) else row
    intents = {*classification.intents} - {code(session.intent)}
    if not intents <= returning or intents & _list_options(session):
        return None
    row = classification.find_best(intents)
    return None if row is None or leaves_form(row) else row


def digress(session: Session, turn: Turn, row: rows.Classifier) -> Session | None:
    """The session that answers this intent and stays where it is; null if there is no answer to give."""
    digression = Digression(code(row.intent_code), code(row.state_code) or UNKNOWN, row.classifier_id)
    session_after = _note_digression(session, turn, digression)
    if session_after is not None:
        turn.record_deciding_row(row, DecisionKind.CLASSIFIER)
    return session_after


def digress_by_agent(session: Session, turn: Turn, intent: str) -> Session | None:
    """The session that answers the intent that a model recognised while a question is open; null for other intents."""
    if intent not in turn.snapshot.returning_intents or intent in {code(session.intent)} | _list_options(session):
        return None
    if not _has_open_question(session, turn) or not _may_interrupt(session, turn):
        return None
    row = next((row for row in order_classifiers(turn.snapshot) if code(row.intent_code) == intent), None)
    if row is not None and leaves_form(row):
        return None
    state = IDLE if row is None else code(row.state_code) or UNKNOWN
    return _note_digression(session, turn, Digression(intent, state, row.classifier_id if row else None))


def _note_digression(session: Session, turn: Turn, digression: Digression) -> Session | None:
    intent, state = digression.intent, digression.state
    scopes = ((intent, state), (ANY, state), (intent, ANY), (ANY, ANY))
    if not any(turn.snapshot.has_scope(rows.Response, *scope) for scope in scopes):
        return None
    corrects = session.input_params.get("routing_decision") == RoutingDecision.APPLY_CORRECTION
    session = session.evolve(digression=replace(digression, has_values=corrects))
    if _repeats_question(session) and session.clarification:
        # The question which action is meant follows the answer, and was not asked in vain.
        asked_before = replace(session.clarification, asks=session.clarification.asks - 1)
        session = session.evolve(reply_override=None, clarification=asked_before)
    return session


def _may_interrupt(session: Session, turn: Turn) -> bool:
    """False when the message answers the open question, or when this turn has gone on already."""
    params = session.input_params
    if blank(session.user_text) or session.transitions or (session.reply_override and not _repeats_question(session)):
        return False
    if params.get("dialogue_act") in _ANSWERS or params.get("policy_decision") in _DECISIONS:
        return False
    route = params.get("routing_decision")
    if route in _ROUTES:
        return False
    return is_question(session) or not (
        route == RoutingDecision.APPLY_CORRECTION or _answers_asked_field(session, turn)
    )


def _says_more(session: Session, turn: Turn, row: rows.Classifier) -> bool:
    """True for a statement that answers a free-text field: it has few words of the phrase."""
    field = find_asked_field(session, turn)
    if field is None or field.spec.kind is not Kind.TEXT or is_question(session):
        return False
    if any(char.isdigit() for char in session.user_text or ""):
        return True  # "6 vegetarians"
    if not field.required and tells_about_user(session.user_text):
        return True  # "We need the baby seat"
    language = detect_languages(f"{row.pattern} {session.user_text}")[0]
    known = {word.term for word in read_telling_words(row.pattern, language)}
    words = read_telling_words(session.user_text, language)
    terms = [word.term for word in words]
    if field.required and len(known) > 1 and asks_for_text(field, find_form_locale(session, turn)):
        others = [word.text for word in words if word.term not in known]
        if len(terms) - len(others) == 1 and _names_only(session.user_text or "", others):
            return True  # "The airport", where "How much is a taxi to the airport?" is a question
    return len(terms) >= _FEWEST_WORDS and sum(term in known for term in terms) * 2 < len(terms)


def _names_only(text: str, others: Sequence[str]) -> bool:
    """True for a thing by its name, "to Heathrow Airport": no sentence, and no other word without a capital."""
    written = {fold(word) for word in text.split() if word[:1].isupper()}
    plain = " ".join(word for word in text.split() if not is_phrase(word.strip(",.!"), "courtesies"))
    is_sentence = any(has_sentence_word(plain, get_language(code)) for code in list_languages())
    return written.issuperset(others) and not is_sentence


def _chooses_option(session: Session, turn: Turn) -> bool:
    """True for a message that is an option of an open field, and asks to speak to nobody: "phone please"."""
    schema = find_schema(turn.snapshot, session.intent, session.state)
    if schema is None or is_question(session) or asks_for_person(session.user_text, must_speak=True):
        return False
    form = get_form(turn.snapshot, schema)
    situation = replace(describe_situation(session, turn, form), is_asked=False, listed_options=())
    return any(
        field.spec.kind is Kind.CHOICE
        and not is_meaningful(find_value(session.context, field.path))
        and read_value(field.spec, session.user_text or "", situation).has_value
        for field in form.leaves
    )


def _repeats_question(session: Session) -> bool:
    """True when the message did not answer which action is meant, so that this turn asks again."""
    override, question = session.reply_override, session.clarification
    return override is not None and override.source == SOURCE and question is not None and question.asks > 1


def _answers_asked_field(session: Session, turn: Turn) -> bool:
    """True when the message is a value of the asked field or a part of one, "next week some time", or when the field
    takes whatever the user writes (`x-long`).

    A name or another short text may be a phrase, too.
    """
    field = find_asked_field(session, turn)
    schema = find_schema(turn.snapshot, session.intent, session.state)
    if field is None or schema is None:
        return False
    if not field.required and skips_field(session.user_text, field):
        return True  # "No access needs"
    if field.spec.kind is Kind.TEXT:
        return field.spec.long
    form = get_form(turn.snapshot, schema)
    reading = read_value(field.spec, session.user_text or "", describe_situation(session, turn, form))
    return reading.has_value or reading.reason in _IN_PART


def _has_open_question(session: Session, turn: Turn) -> bool:
    """True while the last answer asks something, an action waits for a yes, or a form for its confirmation."""
    waits = session.lifecycle == Lifecycle.AWAITING_USER
    return waits or has_open_action(session, turn) or awaits_confirmation(session, turn)


def _list_options(session: Session) -> set[str]:
    """The intents that an open question offers: choosing one answers it."""
    question = session.clarification if collision.is_pending(session) else None
    options = question.options if question else ()
    return {code(str(option.get("intent"))) for option in options if isinstance(option, dict)}
