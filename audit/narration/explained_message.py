"""How the message of a turn that is only tried was read, and why it leads to its intent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from audit.narration import narrate_turn
from audit.narration.reading import read_message_of_turn
from audit.narration.why import list_decisions
from audit.record.document import list_unstored_events
from audit.record.events import Event, expand_events
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.verdict import BELOW_MIN_SCORE
from convengine.engine.steps.intents.stages import (
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_CLASSIFIER_NO_MATCH,
)
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.turn import Turn
from convengine.server.admin_site.phrase_reasons import describe_match, describe_needed_score
from convengine.server.interfaces.turn_reader import ExplainedMessage

#: The events that say what the phrases gave.
_RESULTS = frozenset({INTENT_CLASSIFICATION_MATCHED, INTENT_CLASSIFIER_COLLISION, INTENT_CLASSIFIER_NO_MATCH})
#: How many compared phrases are described.
_MOST = 3


def explain_unstored_message(turn: Turn) -> ExplainedMessage:
    """The marked message, what the phrases gave, and how well they fit."""
    events = list(expand_events(list_unstored_events(turn)))
    reading = read_message_of_turn(events, turn.request.message, turn.snapshot)
    marked = render_to_string("audit/marked_message.html", {"reading": reading}) if reading else ""
    reasons = [sentence.text for sentence in narrate_turn(events, turn.snapshot) if sentence.kind in _RESULTS]
    return ExplainedMessage(marked, reasons, list(_describe_comparisons(events, turn)))


def _describe_comparisons(events: Sequence[Event], turn: Turn) -> Iterator[str]:
    """Each compared phrase with its score, then how much must match."""
    decided = (decision for decision in list_decisions(events) if decision.kind == DecisionKind.CLASSIFIER)
    compared = [
        (candidate, operand)
        for decision in decided
        for candidate in decision.payload.get("candidates") or ()
        for operand in candidate.get("operands") or ()
        if isinstance(operand, Mapping) and "phrase" in operand
    ]
    for candidate, operand in compared[:_MOST]:
        yield describe_match(_name_intent(turn, candidate["id"]), operand, turn.request.message)
    if compared:
        hits = [operand["score"] for candidate, operand in compared if candidate.get("reason") != BELOW_MIN_SCORE]
        yield describe_needed_score(turn.snapshot, compared[0][1]["minScore"], hits)


def _name_intent(turn: Turn, classifier: Any) -> str:
    row = turn.snapshot.row(rows.Classifier, classifier)
    return get_intent_name(turn.snapshot, code(row.intent_code)) if row else str(classifier)
