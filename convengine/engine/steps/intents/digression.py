"""A message beside the open question: one that is answered there, or one that leaves for a person."""

from dataclasses import replace

from convengine.engine.clarification import collision
from convengine.engine.forms.leaving import find_left_schema
from convengine.engine.forms.life import awaits_confirmation
from convengine.engine.forms.message import (
    find_open_schema,
    is_bare_answer,
    is_more_than_values,
    read_message,
    understand_message,
)
from convengine.engine.forms.session_form import find_asked_field, get_current_form
from convengine.engine.forms.user_answer import find_questions, is_question, says, says_only
from convengine.engine.pending_actions.disambiguation import SOURCE, has_open_action
from convengine.engine.steps.intents.classifiers import Classification, classify, order_classifiers
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind, DialogueAct, Lifecycle, PolicyDecision, RoutingDecision
from convengine.engine.turn.scope import ANY, HAND_OVER, IDLE, UNKNOWN
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.phrases.settings import VERY_SURE
from convengine.engine.understanding.reading import Reading

#: A statement with this many words that nothing explains is rather a text than the word of a pattern.
_FEWEST_WORDS = 3
#: What answers the open question is no digression.
_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)
_DECISIONS = (PolicyDecision.EXECUTE_PENDING_ACTION, PolicyDecision.REJECT_PENDING_ACTION)
_ROUTES = (RoutingDecision.PROCEED_CONFIRMED, RoutingDecision.RETRY_IN_PLACE)


def find_interruption(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase that the message matches while a form or a slot keeps the intent.

    Returns None if none matches. Only the phrases that may interrupt are tried; without any, nothing happens. In a
    message that also says something else, the question counts.
    """
    if not turn.snapshot.interrupting_classifiers or not _may_interrupt(session, turn):
        return None
    text = find_questions(session, turn) or session.user_text
    answers = turn.snapshot.returning_intents
    classification = classify(session, turn, text, interrupting=True, answers=answers)
    row = classification.winner
    if row is None or code(row.intent_code) == code(session.intent):
        return None
    if _answers_rather(session, turn, row, classification.score):
        return None
    own = turn.snapshot.list_questions_beside(session.intent)
    is_of_field = code(row.intent_code) not in own and classification.score < 1
    return None if is_of_field and asks_for_field_options(session, turn) else row


def _answers_rather(session: Session, turn: Turn, row: rows.Classifier, score: float) -> bool:
    """True for a message that rather counts persons, or is the text that was asked for, than meaning this row."""
    is_sure = score >= VERY_SURE
    if not is_sure and only_counts_persons(session, turn, row):
        return True
    if row.is_phrase and score < 1 and answers_asked_text(session, turn):
        return True
    if leaves_form(row) or is_sure:
        return False
    field = find_asked_field(session, turn)
    if field is None or field.spec.kind is not Kind.TEXT or is_question(session, turn):
        return False
    # A statement may be the text that was asked for: it is no phrase, and more than words of a pattern.
    talk = understand_message(session, turn).talk
    return row.is_phrase or len(_read_open_form(session, turn).unexplained) + len(talk) >= _FEWEST_WORDS


def asks_for_field_options(session: Session, turn: Turn) -> bool:
    """True when the message asks what there is to choose from for the asked field."""
    field, reading = find_asked_field(session, turn), _read_open_form(session, turn)
    return field is not None and bool(field.spec.options) and reading.asks_about_asked


def _read_open_form(session: Session, turn: Turn) -> Reading:
    row = find_open_schema(session, turn)
    return read_message(session, turn, row) if row and not get_current_form(session, turn, row).problem else Reading()


def leaves_form(row: rows.Classifier) -> bool:
    """True for a phrase that asks for a person: the form is left for its intent."""
    return code(row.state_code) == HAND_OVER


def hands_over_itself(session: Session, turn: Turn) -> bool:
    """True for a message that only asks for a person while a form is open, unless another intent is there for that.

    No phrase that matches it, too, can keep the user in the form.
    """
    if find_left_schema(session, turn) is None or not says_only(session, turn, MoveKind.PERSON):
        return False
    has_text = turn.snapshot.has_scope(rows.Response, code(session.intent), HAND_OVER)
    return has_text or not turn.snapshot.hand_over_intents


def only_counts_persons(session: Session, turn: Turn, row: rows.Classifier) -> bool:
    """True for "8:15 and it's for 6 people", which has a word of "I want to talk to a person" and asks for nobody."""
    return (
        leaves_form(row) and not says(session, turn, MoveKind.PERSON) and _read_open_form(session, turn).gives_anything
    )


def list_answers(session: Session, turn: Turn) -> frozenset[str]:
    """The intents that may be answered beside the open question; none without one."""
    returning = turn.snapshot.returning_intents
    if not returning or not _has_open_question(session, turn) or not _may_interrupt(session, turn):
        return frozenset()
    return returning - collision.list_offered_intents(session)


def find_returning_row(session: Session, turn: Turn, classification: Classification) -> rows.Classifier | None:
    """The matching phrase of an intent that answers and returns, while a question is open and no lock holds.

    Phrases of the current intent may match too. Returns None if there is none.
    """
    answers = list_answers(session, turn)
    if not answers:
        return None
    if not classification.hits:
        # It may say something else, too, that hides what it asks.
        part = find_questions(session, turn)
        row = find_interruption(session, turn) if part not in ("", (session.user_text or "").strip()) else None
        return None if row is None or leaves_form(row) else row
    row = classification.winner
    return None if row is None or code(row.intent_code) not in answers or leaves_form(row) else row


def digress(session: Session, turn: Turn, row: rows.Classifier) -> Session | None:
    """The session that answers this intent and stays where it is. Returns None if there is no answer to give."""
    digression = Digression(code(row.intent_code), code(row.state_code) or UNKNOWN, row.classifier_id)
    session_after = _note_digression(session, turn, digression)
    if session_after is not None:
        turn.record_deciding_row(row, DecisionKind.CLASSIFIER)
    return session_after


def digress_by_agent(session: Session, turn: Turn, intent: str) -> Session | None:
    """The session that answers the intent which a model recognised beside an open question.

    Returns None if no question is open, the intent is not one that answers and returns, or it has no answer.
    """
    others = turn.snapshot.returning_intents - collision.list_offered_intents(session)
    if intent not in others or intent == code(session.intent):
        return None
    if not _has_open_question(session, turn) or not _may_interrupt(session, turn):
        return None
    row = next((row for row in order_classifiers(turn.snapshot) if code(row.intent_code) == intent), None)
    if row is not None and leaves_form(row):
        return None
    state = IDLE if row is None else code(row.state_code) or UNKNOWN
    return _note_digression(session, turn, Digression(intent, state, row.classifier_id if row else None))


def _note_digression(session: Session, turn: Turn, digression: Digression) -> Session | None:
    """The session with the digression. Returns None if no answer is there for its intent and state."""
    intent, state = digression.intent, digression.state
    scopes = ((intent, state), (ANY, state), (intent, ANY), (ANY, ANY))
    if not any(turn.snapshot.has_scope(rows.Response, *scope) for scope in scopes):
        return None
    corrects = session.routing.routing_decision == RoutingDecision.APPLY_CORRECTION
    session = session.evolve(digression=replace(digression, has_values=corrects))
    if _repeats_question(session) and session.clarification:
        # The question which action is meant follows the answer, and was not asked in vain.
        asked_before = replace(session.clarification, asks=session.clarification.asks - 1)
        session = session.evolve(reply_override=None, clarification=asked_before)
    return session


def _may_interrupt(session: Session, turn: Turn) -> bool:
    """False when the message answers the open question, or when this turn has gone on already."""
    if blank(session.user_text) or session.transitions or (session.reply_override and not _repeats_question(session)):
        return False
    if session.dialogue.dialogue_act in _ANSWERS or session.routing.policy_decision in _DECISIONS:
        return False
    route = session.routing.routing_decision
    if route in _ROUTES:
        return False
    return is_question(session, turn) or not (
        route == RoutingDecision.APPLY_CORRECTION or _answers_asked_field(session, turn)
    )


def answers_asked_text(session: Session, turn: Turn) -> bool:
    """True for a bare answer to a question for a text, which may be anything."""
    field = find_asked_field(session, turn)
    return field is not None and field.spec.kind is Kind.TEXT and is_bare_answer(session, turn)


def _repeats_question(session: Session) -> bool:
    """True when the message did not answer which action is meant, so that this turn asks again."""
    override, question = session.reply_override, session.clarification
    return override is not None and override.source == SOURCE and question is not None and question.asks > 1


def _answers_asked_field(session: Session, turn: Turn) -> bool:
    """True when the message has something for the asked field, or when the field takes whatever the user writes.

    A name or another short text may be a phrase, too.
    """
    field, row = find_asked_field(session, turn), find_open_schema(session, turn)
    if field is None or (row is not None and is_more_than_values(session, turn, row)):
        return False
    reading = _read_open_form(session, turn)
    if field.spec.kind is Kind.TEXT:
        return bool(field.spec.long) or field.path in reading.cleared
    return field.path in reading.fields


def _has_open_question(session: Session, turn: Turn) -> bool:
    """True while the last answer asks something, an action waits for a yes, or a form for its confirmation."""
    waits = session.lifecycle == Lifecycle.AWAITING_USER
    return waits or has_open_action(session, turn) or awaits_confirmation(session, turn)
