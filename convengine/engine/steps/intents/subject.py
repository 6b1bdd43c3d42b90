"""A change of subject while a form is open, and which phrase decides the intent then."""

from collections.abc import Iterable, Sequence

from convengine.engine.forms.asking import find_form_language
from convengine.engine.forms.form import Field
from convengine.engine.forms.leaving import (
    LeaveDecision,
    ask_to_leave,
    decide_on_leave,
    find_left_schema,
    find_rest_beside_leaving,
    notices_other_subjects,
)
from convengine.engine.forms.life import find_ended_schema
from convengine.engine.forms.message import is_bare_answer, is_more_than_values, read_message, understand_message
from convengine.engine.forms.session_form import get_current_form
from convengine.engine.forms.user_answer import says
from convengine.engine.steps.intents.choose_by_values import find_unnamed_row
from convengine.engine.steps.intents.classifiers import Classification, classify
from convengine.engine.steps.intents.digression import (
    answers_asked_text,
    asks_for_field_options,
    digress_by_agent,
    leaves_form,
    only_counts_persons,
)
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import DialogueAct, RoutingDecision
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.language import get_tables, list_own_languages
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.phrases.force import has_request
from convengine.engine.understanding.phrases.settings import VERY_SURE
from convengine.engine.understanding.phrases.terms import read_text
from convengine.engine.understanding.reading import Reading

#: What answers the open question is no new subject.
_ANSWERS = (DialogueAct.AFFIRM, DialogueAct.NEGATE, DialogueAct.RESET)


def find_new_subject(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase that the message matches while a form keeps the intent: of another intent, or of this one again.

    A message that has values of the form, or asks for them, is about the form, unless it is a phrase as a whole and no
    mere answer. So is a bare answer to the question of the form. A text, which may be anything, counts less than a
    phrase that matches as a whole. So does a message that corrects or refuses something.
    """
    schema = find_left_schema(session, turn)
    if schema is None or not notices_other_subjects(session, turn, schema) or not _may_change(session, turn):
        return None
    reading = read_message(session, turn, schema)
    form = get_current_form(session, turn, schema)
    fields = [field for item in reading.taken if (field := form.field(item.field))]
    if _is_about_form(session, turn, reading, fields) and not is_more_than_values(session, turn, schema):
        return None
    classification = classify(session, turn, session.user_text)
    row = classification.winner
    if row is None or not _may_begin(session, turn, row, classification):
        return None
    if (fields or reading.offered) and classification.score < VERY_SURE:
        return None
    return row if _is_other_subject(session, turn, code(row.intent_code)) or not fields else None


def _is_about_form(session: Session, turn: Turn, reading: Reading, fields: Sequence[Field]) -> bool:
    """True for a message that refuses, clears or asks for values of the form, or gives one that is no short text."""
    # What is learned of a field is asked last: a replay asks in the same order.
    are_short = (field.spec.kind is Kind.TEXT and not is_long_text(field.spec, turn.ports.learned) for field in fields)
    if reading.sure_refusals or reading.cleared or not all(are_short):
        return True
    return asks_for_field_options(session, turn)


def _may_begin(session: Session, turn: Turn, row: rows.Classifier, classification: Classification) -> bool:
    """True unless the row only answers and returns, begins what the message may not open, or a bare answer is meant."""
    if row.is_phrase and classification.score < 1 and is_bare_answer(session, turn):
        return False
    is_between = code(row.intent_code) in turn.snapshot.returning_intents
    return not is_between and may_open(session, turn, row, classification)


def find_deciding_row(
    session: Session, turn: Turn, classification: Classification, *, forced: bool
) -> rows.Classifier | None:
    """The phrase that decides the intent; beside an open form, only one that may open another.

    Returns None if none decides. `forced`: an open form does not count.
    """
    row = classification.winner or (None if classification.has_collision else find_unnamed_row(session, turn))
    if row is None or forced or find_left_schema(session, turn) is None:
        return row
    return row if may_open(session, turn, row, classification) else None


def may_open(session: Session, turn: Turn, row: rows.Classifier, classification: Classification) -> bool:
    """False beside an open form for a message that corrects or refuses something, unless it is a phrase as it stands
    or matches a pattern.

    "I don't want any money" starts no refund, and "it's for 6 people" asks for nobody.
    """
    if only_counts_persons(session, turn, row):
        return False
    is_as_written = not row.is_phrase or classification.score == 1
    if is_as_written or code(row.intent_code) == code(session.intent):
        return True
    understanding = understand_message(session, turn)
    denies = any(clause.force is Force.DENIES for clause in understanding.clauses)
    return not denies and understanding.find_move(MoveKind.CORRECT, MoveKind.CLEAR) is None


def find_following_subject(session: Session, turn: Turn) -> rows.Classifier | None:
    """The phrase of another intent beside words that leave the form: "never mind the bikes, I need the warden".

    Another form must be asked for: "forget it, my wife has the spare key" tells why.
    """
    rest = find_rest_beside_leaving(session, turn)
    row = None if blank(rest) else classify(session, turn, rest).winner
    if row is None or not _is_other_subject(session, turn, code(row.intent_code)):
        return None
    return row if leaves_form(row) or has_request(rest, list_own_languages(turn.snapshot)) else None


def accepts_offered_subject(session: Session, turn: Turn) -> bool:
    """True when the answer to "Do you want to stop this and go on with X?" names X: "yes, the home visit please"."""
    intent = DialogueState.of(session).leaving
    if not intent or find_left_schema(session, turn) is None:
        return False
    understanding = understand_message(session, turn)
    if understanding.find_move(MoveKind.NEGATE, MoveKind.WAIT, MoveKind.ASK) or any(
        clause.force in (Force.DENIES, Force.SUPPOSES) for clause in understanding.clauses
    ):
        return False
    winner = classify(session, turn, session.user_text).winner
    row, named = turn.snapshot.row(rows.Intent, intent), _list_terms(turn, [session.user_text or ""])
    name = _list_terms(turn, [row.name]) if row is not None else set()
    if winner is not None and code(winner.intent_code) == intent:
        return True
    if understanding.find_move(MoveKind.AFFIRM):
        return bool(name) and name <= named
    return bool(named & name) and named <= _list_terms(turn, _list_texts(turn, intent))


def stay_at_question(session: Session, turn: Turn, intent: str) -> Session | None:
    """The session that keeps its open question when a model recognised this intent.

    Returns None to go on with the intent.
    """
    if digressing := digress_by_agent(session, turn, intent):
        return digressing
    return ask_to_leave(session, turn, intent) if asks_before_leaving(session, turn, intent) else None


def asks_before_leaving(session: Session, turn: Turn, intent: str) -> bool:
    """True for another subject at the confirmation of a form that asks before it is left."""
    schema = find_left_schema(session, turn)
    if schema is None or not notices_other_subjects(session, turn, schema):
        return False
    decision = decide_on_leave(session, turn, schema, intent)
    return _is_other_subject(session, turn, intent) and decision is LeaveDecision.ASK


def _is_other_subject(session: Session, turn: Turn, intent: str) -> bool:
    """True for another intent that does not only answer and return."""
    return intent != code(session.intent) and intent not in turn.snapshot.returning_intents


def _may_change(session: Session, turn: Turn) -> bool:
    if answers_asked_text(session, turn):
        return False
    if blank(session.user_text) or session.digression is not None or session.transitions:
        return False
    corrects = session.routing.routing_decision == RoutingDecision.APPLY_CORRECTION
    return not corrects and session.dialogue.dialogue_act not in _ANSWERS


def asks_to_undo_done_form(session: Session, turn: Turn, row: rows.Classifier, score: float) -> bool:
    """True for "cancel my appointment" after the form was done, unless a phrase is for that.

    `row` is the phrase that would take the message: of the same intent, which would begin again, or of another one that
    does not know what should be cancelled.
    """
    if not says(session, turn, MoveKind.LEAVE, MoveKind.CORRECT) or find_ended_schema(session, turn) is None:
        return False
    if code(session.state) == UNKNOWN:
        return False
    if code(row.intent_code) == code(session.intent):
        return score < VERY_SURE
    words = get_tables(find_form_language(session, turn)).grammar.list_words("undo")
    named = _list_terms(turn, [session.user_text or ""]) - _list_terms(turn, (word for word, _ in words))
    return not named or (row.is_phrase and not named <= _list_terms(turn, _list_texts(turn, code(row.intent_code))))


def _list_texts(turn: Turn, intent: str) -> list[str]:
    """The phrases of an intent, and its name."""
    known = turn.snapshot.row(rows.Intent, intent)
    listed = turn.snapshot.enabled_rows(rows.Classifier)
    return [*([known.name] if known else []), *(row.pattern or "" for row in listed if code(row.intent_code) == intent)]


def _list_terms(turn: Turn, texts: Iterable[str]) -> set[str]:
    """The telling words, without those that cancel or change something."""
    languages = list_own_languages(turn.snapshot)
    return {word.term for text in texts for words in read_text(text, languages) for word in words}
