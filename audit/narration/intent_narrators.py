"""How the intent was found, kept, or asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Fact, Parts, RowRef, Sentence
from audit.narration.wording import find_matched_words, quote, row_name
from audit.record.events import Event
from convengine.engine.steps.intents.stages import (
    INTENT_AGENT_ACCEPTED,
    INTENT_AGENT_COLLISION,
    INTENT_AGENT_NEEDS_CLARIFICATION,
    INTENT_CLASSIFICATION_MATCHED,
    INTENT_CLASSIFIER_COLLISION,
    INTENT_RESOLVED_BY_CLASSIFIER,
)
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ClassifierType, DecisionKind
from convengine.engine.turn.stage import Tone
from convengine.engine.turn.stages import DECISION

Json = Any
_TABLE = rows.Classifier.table
_ROWS = "matchedByRule"
#: Why a phrase that matched did not decide, in the event.
_LOST = "LOWER_PRIORITY"
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
    """The phrase that decided with its reason, and the phrases that matched and lost."""
    event = turn.events[index]
    recognised = fill_template(event, "Recognised the intent {intent}")
    if recognised:
        decision = turn.before(index, DECISION, kind=DecisionKind.CLASSIFIER.value)
        winner = _find_winner(event, decision)
        cause = (", because ", *_describe_reason(turn, event, winner)) if winner is not None else ()
        words = fill_template(event, ", by the words {words:names}")
        runner_up = fill_template(event, "; the next best is {runnerUp} with a score of {runnerUpScore}")
        losers = _describe_losers(turn, decision, winner) if decision else ()
        sentence = build_sentence(event, (*recognised, *cause, *words, *runner_up, ".", *losers))
        yield replace(sentence, patterns=_list_patterns(turn, winner))


def _list_patterns(turn: NarratedTurn, pk: Json) -> tuple[str, ...]:
    """The pattern of the phrase that decided, to be shown on demand."""
    row = turn.row(rows.Classifier, pk)
    is_regex = row is not None and ClassifierType.read(row.rule_type) == ClassifierType.REGEX
    return (f"{row_name(_TABLE, pk)}: /{row.pattern}/",) if is_regex else ()


def _read_tested_text(event: Event) -> str | None:
    """The text that phrases were tested on: the message, or its rewritten form."""
    return event.state.get("standaloneQuery") or event.state.get("userText")


def _find_winner(event: Event, decision: Event | None) -> Json:
    """The phrase that the decision calls the winner; without that event, the only phrase that matched; else null."""
    matched = event.payload.get(_ROWS)
    if not isinstance(matched, Mapping):
        return None
    winner = decision.payload.get("winner") if decision else next(iter(matched), None) if len(matched) == 1 else None
    return winner if str(winner) in matched else None


def _describe_losers(turn: NarratedTurn, decision: Event, winner: Json) -> Parts:
    """The phrases that matched too, each with the reason why it lost."""
    best = turn.row(rows.Classifier, winner)
    candidates = decision.payload.get("candidates")
    outranked = [
        (number, candidate)
        for number, candidate in enumerate(candidates if isinstance(candidates, list) else ())
        if isinstance(candidate, Mapping) and candidate.get("reason") == _LOST and best is not None
    ]
    seq = decision.row.seq
    parts: list[str | Fact] = []
    for number, candidate in outranked[:_MOST]:
        pk, path = candidate["id"], ("candidates", number)
        name, row = row_name(_TABLE, pk), turn.row(rows.Classifier, pk)
        reason = "lower priority" if row and row.priority > best.priority else "the same priority, but comes later"
        parts += [
            " ",
            Fact(name[:1].upper() + name[1:], pk, seq, (*path, "id"), RowRef(_TABLE, pk)),
            " matched too, with ",
            Fact(reason, candidate["reason"], seq, (*path, "reason")),
            ".",
        ]
    more = len(outranked) - _MOST
    return (*parts, *((" Other phrases matched too.",) if more > 0 else ()))


def narrate_resolution(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """The phrases' result, if the event about it was filtered out."""
    event = turn.events[index]
    parts = fill_template(event, "Recognised the intent {resolvedIntent} by its phrases.")
    if parts and turn.before(index, INTENT_CLASSIFICATION_MATCHED) is None:
        yield build_sentence(event, parts)


def narrate_collision(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
    """Matching phrases of several intents. None of them won."""
    event = turn.events[index]
    if intents := fill_template(event, "Phrases of several intents match, so none decides: {matchedIntents:names}"):
        yield build_sentence(event, (*intents, *_describe_matches(turn, event), "."), Tone.WARNING)


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


def _describe_matches(turn: NarratedTurn, event: Event) -> Parts:
    matched = event.payload.get(_ROWS)
    if not isinstance(matched, Mapping) or not matched:
        return ()
    reasons: list[str | Fact] = []
    for pk in list(matched)[:_MOST]:
        reasons += [" and " if reasons else "; ", *_describe_reason(turn, event, pk)]
    more = len(matched) - _MOST
    return (*reasons, *((" and other phrases match too",) if more > 0 else ()))


def _describe_reason(turn: NarratedTurn, event: Event, pk: Json) -> Parts:
    """Why one phrase matches; its text comes from the release."""
    key = str(pk)
    seq, ref = event.row.seq, RowRef(_TABLE, int(key) if key.isdecimal() else key)
    name = Fact(row_name(_TABLE, key), key, seq, (_ROWS,), ref)
    row = turn.row(rows.Classifier, pk)
    kind = ClassifierType.read(row.rule_type) if row else None
    if row is None or kind is None or not row.pattern:
        return (name, " matches")
    if kind == ClassifierType.REGEX:
        words = find_matched_words(row.pattern, _read_tested_text(event))
        if not words:
            return ("the message matches ", name)
        return (
            "the message contains ",
            Fact(quote(words), row.pattern, seq, (_ROWS,), ref, "pattern"),
            " (",
            name,
            ")",
        )
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
