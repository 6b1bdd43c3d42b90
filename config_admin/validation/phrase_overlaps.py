"""Phrases of two intents that match one message: which one decides, and what a message calls them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.rules.pattern_examples import describe_examples
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.steps.intents.classifiers import get_classifier_bank, list_groups
from convengine.engine.steps.intents.settings import COLLISION_BY_PRIORITY, ORDER
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.settings import MIN_NEAR

#: The length of a named phrase.
_LONGEST = 60
#: The order of the match types, and whether priorities decide within a group of them.
_Order = tuple[dict[str, int], bool]


def choose_deciding_row(snapshot: Snapshot, row: rows.Classifier, other: rows.Classifier) -> rows.Classifier | None:
    """The row that decides: its match type is tried earlier, or its priority is lower.

    Returns None when both collide.
    """
    groups, by_priority = snapshot.memo.get("order of match types", partial(_read_order, snapshot))
    position, other_position = (groups.get(code(each.rule_type), len(groups)) for each in (row, other))
    if position != other_position:
        return row if position < other_position else other
    if by_priority and row.priority != other.priority:
        return row if row.priority < other.priority else other
    return None


def _read_order(snapshot: Snapshot) -> _Order:
    groups = list_groups(live_settings.read(snapshot, ORDER).value)
    order = {match_type.value: index for index, group in enumerate(groups) for match_type in group}
    return order, bool(live_settings.read(snapshot, COLLISION_BY_PRIORITY).value)


def describe_phrase(snapshot: Snapshot, row: rows.Classifier) -> str:
    """A phrase for a message: `phrase “where is my parcel” of “Parcels”`, `phrase like “send back” of …`."""
    examples = "" if row.description or code(row.rule_type) != REGEX else describe_examples(row.pattern or "")
    name = f"like {examples}" if examples else f"“{shorten_line(row.description or row.pattern, _LONGEST)}”"
    return f"phrase {name} of {quote_intent(snapshot, code(row.intent_code))}"


def quote_intent(snapshot: Snapshot, intent: str) -> str:
    """The name of an intent in quotation marks, and its code, unless that has the same words.

    `“Cancel an order” (CANCEL_ORDER)`, `“Returns”`
    """
    name = shorten_line(get_intent_name(snapshot, intent), _LONGEST)
    return f"“{name}”" if code(name).replace(" ", "_") == intent else f"“{name}” ({intent})"


@dataclass(frozen=True)
class PhraseOverlap:
    """The rows of other intents that match the sentence of a phrase, too."""

    others: tuple[rows.Classifier, ...]
    #: Those of them that decide.
    taking: tuple[rows.Classifier, ...]
    #: True when users are asked which intent they mean.
    is_asked: bool


def find_phrase_overlap(snapshot: Snapshot, row: rows.Classifier) -> PhraseOverlap | None:
    """What else matches the sentence of a phrase of the configuration. Returns None if nothing does."""
    sentence, own = row.pattern or "", code(row.intent_code)
    least = live_settings.read(snapshot, MIN_NEAR).value
    matches = match_phrases(snapshot, sentence)
    near = [match for match in (*matches.hits, *matches.near) if match.intent != own and match.confidence >= least]
    others = {match.phrase.key: snapshot.row(rows.Classifier, match.phrase.key) for match in near}
    taking: dict[Any, rows.Classifier] = {}
    is_asked = False
    for pk in (*(match.phrase.key for match in matches.hits), *get_classifier_bank(snapshot).hits(sentence)):
        other = snapshot.row(rows.Classifier, pk)
        if other is None or code(other.intent_code) == own or not snapshot.is_active(other.intent_code):
            continue
        others[pk] = other
        decides = choose_deciding_row(snapshot, row, other)
        is_asked = is_asked or decides is None
        if decides is other:
            taking[pk] = other
    matching = tuple(other for other in others.values() if other)
    return PhraseOverlap(matching, tuple(taking.values()), is_asked) if matching else None
