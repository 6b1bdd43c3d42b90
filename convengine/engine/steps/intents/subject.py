"""A change of subject while a form is open (R113)."""

from convengine.engine.forms.extract.language import NAMED
from convengine.engine.forms.form import Field, get_form
from convengine.engine.forms.leaving import find_left_schema, notices_other_subjects
from convengine.engine.forms.read_message import extract_fields, find_asked_fields
from convengine.engine.steps.intents.classifiers import classify
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, RoutingDecision
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind

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
    extraction = extract_fields(session, turn, form, find_asked_fields(session, turn, schema, form))
    fields = [field for finding in extraction.extracted if (field := form.field(finding.field))]
    if any(field.spec.kind is not Kind.TEXT or field.spec.long for field in fields):
        return None
    classification = classify(session, turn, session.user_text)
    row = classification.winner
    if row is None or code(row.intent_code) in turn.snapshot.returning_intents:
        return None
    if fields and classification.details.get("score", 0) < _SURE:
        return None
    return row if is_other_subject(session, turn, row) or all(_takes_names(field) for field in fields) else None


def _takes_names(field: Field) -> bool:
    return any(not NAMED.isdisjoint(label) for label in field.labels)


def is_other_subject(session: Session, turn: Turn, row: rows.Classifier) -> bool:
    """True for a phrase of another intent that does not only answer and return."""
    intent = code(row.intent_code)
    return intent != code(session.intent) and intent not in turn.snapshot.returning_intents


def _may_change(session: Session) -> bool:
    params = session.input_params
    if blank(session.user_text) or session.digression is not None or session.transitions:
        return False
    corrects = params.get("routing_decision") == RoutingDecision.APPLY_CORRECTION
    return not corrects and params.get("dialogue_act") not in _ANSWERS
