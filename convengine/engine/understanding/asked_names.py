"""The name of a person in a longer answer to the question for it: "that'll be our Cerys, Cerys Ellis, she's six"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from convengine.engine.understanding.assign import FieldClaim
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.form import MOST_SHORT, FormField
from convengine.engine.understanding.kinds.name_parts import FAMILY, GIVEN, find_part
from convengine.engine.understanding.labels import takes_only_name
from convengine.engine.understanding.reading import Doubt, Offered, Taken
from convengine.engine.understanding.text_words import PARTING, TextWords
from convengine.engine.understanding.words import cover

NAME = "NAME"
#: A name in small letters has no more words; behind more of them, something else may stand.
_MOST_SMALL_LETTERS = 2


@dataclass(frozen=True)
class _Name:
    start: int
    end: int
    keys: frozenset[str]
    is_capital: bool
    #: It stands behind "my name is".
    is_framed: bool
    #: So it does, or it begins the message.
    is_sure: bool
    #: Nothing else of the message says something.
    is_only: bool

    def is_written(self, *, is_noun: bool) -> bool:
        """True for what is written or introduced as a name. `is_noun`: a capital alone does not tell a name."""
        is_whole = self.end > self.start + 1
        return self.is_framed or (is_whole and (self.is_capital or self.is_only)) or (self.is_capital and not is_noun)


def take_name(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> Taken | Offered | None:
    """The one name of an answer; the first of several is offered. Returns None where it has none, or only a part."""
    understanding, grammar = explained.understanding, explained.understanding.chart.grammar
    names = _choose([*_list_names(item, explained, claims)])
    corrects = any(cue.name == "correction" for cue in understanding.cues)
    if not names or find_part(item.spec, grammar) in (GIVEN, FAMILY) or (corrects and len(names) > 1):
        return None
    names = [name for name in names if name.is_sure] or names
    name = names[0]
    if not (name.is_only or takes_only_name(item, grammar)):
        return None
    first, last = understanding.find_position(name.start, name.end)
    text = understanding.text[first:last]
    is_long = not name.is_capital and name.end - name.start > _MOST_SMALL_LETTERS
    if is_long or len({other.keys for other in names}) > 1:
        return Offered(item.path, text, first, last, Doubt.UNCLEAR)
    return Taken(item.path, text, first, last, NAME, is_echoed=True)


def _choose(names: Sequence[_Name]) -> Sequence[_Name]:
    """The names without single words of others, and those with capitals where there are any."""
    parts = {key for name in names if len(name.keys) > 1 for key in name.keys}
    wholes = [name for name in names if len(name.keys) > 1 or parts.isdisjoint(name.keys)]
    return [name for name in wholes if name.is_capital] or wholes


def _list_names(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> Iterator[_Name]:
    """What is left of each part of the message without the small words around it, where that may be a name."""
    understanding, words = explained.understanding, TextWords(explained.understanding)
    small, passed = _list_small(item, explained), _list_passed(item, explained, claims)
    is_noun = not understanding.chart.grammar.nodes.get("capital_word")  # Every noun has a capital in the language.
    telling = explained.content - small
    # Sentences, what stands between commas, and clauses that ask or deny.
    starts = {0, len(understanding.words)} | understanding.begins
    starts |= {at + 1 for at, word in enumerate(understanding.words) if word.key in PARTING}
    starts |= {clause.start for clause in understanding.clauses if clause.force is not Force.STATES}
    for first, last in pairwise(sorted(starts)):
        content = [at for at in range(first, last) if at not in small]
        start, end = (content[0], content[-1] + 1) if content else (first, first)
        keys = frozenset(word.key for word in understanding.words[start:end])
        if 0 < end - start <= MOST_SHORT and passed.isdisjoint(range(start, end)) and words.are_name(start, end):
            is_capital = understanding.text[understanding.words[start].start].isupper()
            is_framed = words.is_framed(start)
            is_only = telling.issubset(range(start, end))
            name = _Name(start, end, keys, is_capital, is_framed, is_framed or start == first == 0, is_only)
            yield from [name] if name.is_written(is_noun=is_noun) else []


def _list_passed(item: FormField, explained: Explained, claims: Sequence[FieldClaim]) -> set[int]:
    """The words of other values, of denials, and of the names of other fields only."""
    understanding, labels = explained.understanding, {word for label in item.labels for word in label}
    others = {word for other in explained.form.fields if other is not item for label in other.labels for word in label}
    denying = [clause for clause in understanding.clauses if clause.force is Force.DENIES]
    named = {at for at, word in enumerate(understanding.words) if word.key in others - labels}
    return cover(claim.span for claim in claims) | cover(denying) | named


def _list_small(item: FormField, explained: Explained) -> set[int]:
    """The words that are no name; but a capital inside a sentence belongs to one: "Treat You Better"."""
    understanding, labels = explained.understanding, {word for label in item.labels for word in label}
    chart, words = understanding.chart, understanding.words
    small = cover(understanding.cues) | cover(move for move in understanding.moves if move.is_whole) | explained.talk
    small |= {at for at, word in enumerate(words) if word.key in labels}
    if chart.grammar.nodes.get("capital_word") and not chart.is_shouted:
        inner = small - {0} - understanding.begins
        capitals = {at for at in inner if chart.text[words[at].start].isupper()}
        small -= {at for at in capitals if chart.match_longest("capital_word", at) is None}
    return small | {at for at, word in enumerate(words) if word.is_sign}
