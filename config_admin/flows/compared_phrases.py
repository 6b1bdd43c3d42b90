"""What new phrases of a page are near to, and what saving them does to the phrases that are there, in words."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.classifier import Example
from convengine.evaluation.phrase_change import MovedPhrase, PhraseChange, compare_phrases

#: How many new phrases are listed, and how many of those that move are quoted in a sentence.
MOST_LISTED, MOST_QUOTED = 50, 3
_LONGEST = 80


@dataclass(frozen=True)
class NewPhrase:
    """A new phrase, and the phrase of another intent that is the most like it."""

    text: str
    intent: str
    nearest: str
    likeness: str
    #: The other intent that it leads to by the other phrases; blank if that is its own.
    leads_to: str


@dataclass(frozen=True)
class ComparedPhrases:
    """What a page shows of it."""

    new: Sequence[NewPhrase]
    #: New phrases that are not listed.
    more: int
    #: What gets worse, and what gets better.
    losses: Sequence[str]
    gains: Sequence[str]
    #: On how many phrases this rests.
    about: str


def describe_new_phrases(before: Snapshot, after: Snapshot) -> ComparedPhrases:
    """Compare the phrases of two configurations."""
    contents = [get_phrase_book(snapshot).content for snapshot in (before, after)]
    change = compare_phrases(contents[0].examples, contents[1].examples, contents[1].synonyms)
    name = partial(get_intent_name, after)
    listed = [
        NewPhrase(
            each.new.text,
            name(each.other.intent),
            shorten_line(each.other.text, _LONGEST),
            format_confidence(each.likeness),
            name(each.leads_to) if each.leads_to not in ("", each.new.intent) else "",
        )
        for each in change.nearest[:MOST_LISTED]
    ]
    losses = [
        f"{_count_leading(group, name(old))} to “{name(new)}”: {_quote(group)}."
        for (old, new), group in _group(change.losses)
    ]
    gains = [
        f"{_count_leading(group, name(new))} there, no longer to “{name(old)}”: {_quote(group)}."
        for (old, new), group in _group(change.gains)
    ]
    return ComparedPhrases(listed, len(change.nearest) - len(listed), losses, gains, _describe_basis(change))


def _count_leading(group: Sequence[Example], intent: str) -> str:
    return f"{_count(len(group))} of “{intent}” now lead{'s' * (len(group) == 1)}"


def _group(moved: Iterable[MovedPhrase]) -> list[tuple[tuple[str, str], list[Example]]]:
    """The phrases by the intents that they led to and lead to, the most first."""
    groups: defaultdict[tuple[str, str], list[Example]] = defaultdict(list)
    for each in moved:
        groups[each.before, each.after].append(each.phrase)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def _quote(phrases: Sequence[Example]) -> str:
    quoted = [f"“{shorten_line(phrase.text, _LONGEST)}”" for phrase in phrases[:MOST_QUOTED]]
    more = len(phrases) - len(quoted)
    return ", ".join(quoted) + (f" and {more} more" if more else "")


def _count(number: int, noun: str = "phrase") -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _describe_basis(change: PhraseChange) -> str:
    if not change.compared:
        return "There are no other phrases to compare with."
    whole = f"Each of the {_count(change.phrases)} that stay" if change.phrases > 1 else "The phrase that stays"
    if change.compared < change.phrases:
        whole = (
            f"Of the {_count(change.phrases)} that stay, each of the {change.compared:,} of the "
            f"{_count(change.intents, 'nearest intent')}"
        )
    further = f" {_count(change.further, 'new phrase')} more were not compared." if change.further else ""
    return f"{whole} was decided on without itself, before and after.{further}"
