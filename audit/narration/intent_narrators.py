"""How the intent was found, kept, or asked for."""

from collections.abc import Iterator, Mapping
from typing import Any

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Fact, Parts, RowRef, Sentence
from audit.narration.wording import quote, row_name
from audit.record.expand import Event
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_ACCEPTED,
    INTENT_AGENT_COLLISION,
    INTENT_AGENT_NEEDS_CLARIFICATION,
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_RESOLVED_BY_CLASSIFIER,
)
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.stage import Tone

Json = Any
_TABLE = rows.Classifier.table
_ROWS = "matchedByRule"
#: Maximum phrases in a sentence; the event has all.
_MOST = 3
#: How a phrase of a type matches.
_FITS: Mapping[str, str] = {
    ClassifierType.EXACT: "the message is ",
    ClassifierType.CONTAINS: "the message contains ",
    ClassifierType.PHRASE: "the message fits the phrase ",
    ClassifierType.SEMANTIC: "the message means the same as ",
}


def narrate_match(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Matching phrases of one intent."""
    event = turn.events[index]
    told_of = fill_template(event, "Recognised the intent {intent}")
    if told_of:
        words = fill_template(event, ", by the words {words:names}")
        runner_up = fill_template(event, "; the next best is {runnerUp} with a score of {runnerUpScore}")
        yield build_sentence(event, (*told_of, *_describe_cause(turn, event), *words, *runner_up, "."))


def narrate_resolution(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The phrases' result, if the event about it was filtered out."""
    event = turn.events[index]
    parts = fill_template(event, "Recognised the intent {resolvedIntent} by its phrases.")
    if parts and turn.before(index, INTENT_CLASSIFICATION_MATCHED) is None:
        yield build_sentence(event, parts)


def narrate_collision(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Matching phrases of several intents."""
    event = turn.events[index]
    if told_of := fill_template(event, "Phrases of several intents match: {matchedIntents:names}"):
        yield build_sentence(event, (*told_of, *_describe_cause(turn, event), "."), Tone.WARNING)


def narrate_accepted_intent(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The model's intent, or the option that the user chose."""
    event = turn.events[index]
    how = fill_template(event, " {by:phrase read_by}") or (
        " by the model",
        *fill_template(event, ", confidence {confidence:percent}"),
    )
    yield build_sentence(
        event, (*(fill_template(event, "Recognised the intent {intent}") or ("Recognised the intent",)), *how, ".")
    )


def narrate_clarification(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The model's question, unless its collision contained it."""
    event = turn.events[index]
    parts = fill_template(event, "The model asked the user: {question:said}.")
    if parts and turn.before(index, INTENT_AGENT_COLLISION) is None:
        yield build_sentence(event, parts)


def _describe_cause(turn: NarratedTurn, event: Event) -> Parts:
    rows = event.payload.get(_ROWS)
    if not isinstance(rows, Mapping) or not rows:
        return ()
    reasons: list[str | Fact] = []
    for pk in list(rows)[:_MOST]:
        reasons += [" and " if reasons else ", because ", *_describe_reason(turn, event, pk)]
    more = len(rows) - _MOST
    return (*reasons, *((" and other phrases match too",) if more > 0 else ()))


def _describe_reason(turn: NarratedTurn, event: Event, pk: str) -> Parts:
    """Why one phrase matches; its text comes from the release."""
    seq, ref = event.row.seq, RowRef(_TABLE, int(pk) if pk.isdecimal() else pk)
    name = Fact(row_name(_TABLE, pk), pk, seq, (_ROWS,), ref)
    row = turn.row(rows.Classifier, pk)
    kind = ClassifierType.read(row.rule_type) if row else None
    if row is None or kind is None or not row.pattern:
        return (name, " matches")
    if kind == ClassifierType.REGEX:
        return ("the message matches ", name)
    text = quote(row.pattern)
    return (
        _FITS.get(kind, "the message matches "),
        Fact(text, row.pattern, seq, (_ROWS,), ref, "pattern"),
        " (",
        name,
        ")",
    )


NARRATORS: Mapping[str, Narrator] = {
    INTENT_CLASSIFICATION_MATCHED: narrate_match,
    INTENT_CLASSIFIER_COLLISION: narrate_collision,
    INTENT_AGENT_NEEDS_CLARIFICATION: narrate_clarification,
    INTENT_AGENT_ACCEPTED: narrate_accepted_intent,
    INTENT_RESOLVED_BY_CLASSIFIER: narrate_resolution,
}
