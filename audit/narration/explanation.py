"""A turn as lines of text: what happened, and why; of one that is only tried, how its message was read."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.template.loader import render_to_string

from audit.narration import narrate_turn
from audit.narration.decisions import Candidate, Decision, list_choices, list_reasons
from audit.narration.reading import read_message_of_turn
from audit.record.document import list_unstored_events
from audit.record.events import Event, expand_events
from audit.record.queries import read_turns
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.verdict import BELOW_MIN_SCORE
from convengine.engine.steps.intents.stages import (
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_CLASSIFIER_NO_MATCH,
    INTENT_CLASSIFIER_SUBSTITUTED,
)
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.server.admin_site.phrase_reasons import describe_match, describe_needed_score
from convengine.server.interfaces.turn_reader import ExplainedMessage
from convengine.server.sessions.models import CeExtensionFault

#: The events that say what the phrases gave.
_RESULTS = frozenset(
    {
        *(INTENT_CLASSIFICATION_MATCHED, INTENT_CLASSIFIER_COLLISION, INTENT_CLASSIFIER_NO_MATCH),
        INTENT_CLASSIFIER_SUBSTITUTED,
    }
)
#: How many compared phrases are described.
_MOST = 3
#: How much of a traceback is shown: the last calls.
_TRACEBACK_LINES = 7


def explain_turn(conversation_id: uuid.UUID, turn_no: int) -> list[str]:
    """The narration of a turn, then its decisions with the rows that won, and those that were tested and lost, then the
    exceptions of extensions.
    """
    events = list(expand_events(read_turns(conversation_id, [turn_no])))
    return [*_explain_events(events), *_list_exceptions(conversation_id, turn_no)]


def explain_unstored_turn(turn: Turn) -> list[str]:
    """Explain a turn that was only tried and not stored: its narration, then its decisions."""
    return _explain_events(list(expand_events(list_unstored_events(turn))), turn.snapshot)


def _explain_events(events: list[Event], release: Snapshot | None = None) -> list[str]:
    return [*(sentence.text for sentence in narrate_turn(events, release)), *describe_reasons(events, release)]


def describe_reasons(events: Sequence[Event], release: Snapshot | None = None) -> list[str]:
    """The decisions of a turn as `list_reasons` gives them, each in a line, and the rows that lost in further ones."""
    return [line for reason in list_reasons(events, release) for line in _describe_reason(reason)]


def _list_exceptions(conversation_id: uuid.UUID, turn_no: int) -> Iterator[str]:
    """The exceptions of extensions, with the ends of their tracebacks."""
    faults = CeExtensionFault.objects.filter(conversation_id=conversation_id, turn_no=turn_no)
    for fault in faults.order_by("id"):
        yield f"{fault.label} {fault.name} raised:"
        yield from (f"  {line}" for line in fault.traceback.splitlines()[-_TRACEBACK_LINES:])


def _describe_reason(reason: Decision) -> list[str]:
    winners = "; ".join(_name_row(row) for row in reason.winners) or reason.without_winner
    losers = [f"  not {_name_row(row)}: {row.reason}" for row in reason.losers]
    return [f"{reason.subject}: {winners}", *losers]


def _name_row(row: Candidate) -> str:
    return f"{row.about or row.title or row.table} ({row.table} {row.pk})"


def explain_unstored_message(turn: Turn) -> ExplainedMessage:
    """The marked message, what the phrases gave, and how well they fit."""
    events = list(expand_events(list_unstored_events(turn)))
    reading = read_message_of_turn(events, turn.request.message, turn.snapshot)
    marked = render_to_string("audit/marked_message.html", {"reading": reading}) if reading else ""
    reasons = [sentence.text for sentence in narrate_turn(events, turn.snapshot) if sentence.kind in _RESULTS]
    return ExplainedMessage(marked, reasons, list(_describe_comparisons(events, turn)))


def _describe_comparisons(events: Sequence[Event], turn: Turn) -> Iterator[str]:
    """At most three of the compared phrases, each with its score, then how much must match; nothing without phrases."""
    choices = (choice for choice in list_choices(events) if choice.kind == DecisionKind.CLASSIFIER)
    compared = [
        (candidate, operand)
        for choice in choices
        for candidate in choice.payload.get("candidates") or ()
        for operand in candidate.get("operands") or ()
        if isinstance(operand, Mapping) and "phrase" in operand
    ]
    for candidate, operand in compared[:_MOST]:
        yield describe_match(_name_intent(turn, candidate["id"]), operand)
    if compared:
        hits = [operand["score"] for candidate, operand in compared if candidate.get("reason") != BELOW_MIN_SCORE]
        yield describe_needed_score(turn.snapshot, compared[0][1]["minScore"], hits)


def _name_intent(turn: Turn, classifier: Any) -> str:
    """The name of a phrase's intent, or the key of the phrase if the release does not have it."""
    row = turn.snapshot.row(rows.Classifier, classifier)
    return get_intent_name(turn.snapshot, code(row.intent_code)) if row else str(classifier)
