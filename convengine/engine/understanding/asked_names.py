"""The name of a person in a longer answer to the question for it: "that'll be our Cerys, Cerys Ellis, she's six"."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from convengine.engine.understanding.assign import Claim
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
    #: It stands behind "my name is", or begins the message.
    is_sure: bool
    #: Nothing else of the message says something.
    is_only: bool


def take_name(item: FormField, explained: Explained, claims: Sequence[Claim]) -> Taken | Offered | None:
    """The one name of an answer; the first of several is offered. Returns None where it has none, or only a part."""
    understanding = explained.understanding
    if find_part(item.spec, understanding.chart.grammar) in (GIVEN, FAMILY):
        return None
    names = [*_list_names(item, explained, claims)]
    names = [name for name in names if not any(name.keys < other.keys for other in names)]
    names = [name for name in names if name.is_capital] or names
    corrects = any(cue.name == "correction" for cue in understanding.cues)
    if not names or (corrects and len(names) > 1):
        return None
    names = [name for name in names if name.is_sure] or names
    if not (names[0].is_only or takes_only_name(item, understanding.chart.grammar)):
        return None
    first, last = understanding.find_position(names[0].start, names[0].end)
    text = understanding.text[first:last]
    is_long = not names[0].is_capital and names[0].end - names[0].start > _MOST_SMALL_LETTERS
    if is_long or len({name.keys for name in names}) > 1:
        return Offered(item.path, text, first, last, Doubt.UNCLEAR)
    return Taken(item.path, text, first, last, NAME, is_echoed=True)


def _list_names(item: FormField, explained: Explained, claims: Sequence[Claim]) -> Iterator[_Name]:
    """What is left of each part of the message without the small words around it, where that may be a name."""
    understanding, words = explained.understanding, TextWords(explained.understanding)
    text, labels = understanding.text, {word for label in item.labels for word in label}
    others = {word for other in explained.form.fields if other is not item for label in other.labels for word in label}
    others -= labels
    small = cover(understanding.cues) | cover(move for move in understanding.moves if move.is_whole)
    small |= {at for at, word in enumerate(understanding.words) if word.is_sign or word.key in labels}
    small |= explained.talk
    # "Treat You Better": a capital inside a sentence belongs to the name.
    small -= {
        at for at, word in enumerate(understanding.words) if _is_inner_capital(explained, at) and not word.is_sign
    }
    is_noun = not understanding.chart.grammar.nodes.get("capital_word")
    denied = cover(claim.span for claim in claims) | cover(
        clause for clause in understanding.clauses if clause.force is Force.DENIES
    )
    for first, last in _split(explained):
        content = [at for at in range(first, last) if at not in small]
        start, end = (content[0], content[-1] + 1) if content else (first, first)
        keys = frozenset(word.key for word in understanding.words[start:end])
        if start == end or end - start > MOST_SHORT or start in denied or not keys.isdisjoint(others):
            continue
        is_capital, is_framed = text[understanding.words[start].start].isupper(), words.is_framed(start)
        is_whole, is_only = end > start + 1, explained.content - small <= {*range(start, end)}
        is_written = (is_capital and (is_whole or not is_noun)) or (is_only and is_whole)
        if words.are_name(start, end) and (is_framed or is_written):
            yield _Name(start, end, keys, is_capital, is_framed or start == first == 0, is_only)


def _is_inner_capital(explained: Explained, at: int) -> bool:
    chart, is_first = explained.understanding.chart, at == 0 or at in explained.understanding.begins
    is_capital = chart.text[chart.words[at].start].isupper() and chart.match_longest("capital_word", at) is None
    return is_capital and not (is_first or chart.is_shouted) and bool(chart.grammar.nodes.get("capital_word"))


def _split(explained: Explained) -> Iterator[tuple[int, int]]:
    """The parts of a message: sentences, what stands between commas, and clauses that ask or deny."""
    understanding = explained.understanding
    starts = {0, len(understanding.words)} | understanding.begins
    starts |= {at + 1 for at, word in enumerate(understanding.words) if word.key in PARTING}
    starts |= {clause.start for clause in understanding.clauses if clause.force is not Force.STATES}
    yield from pairwise(sorted(starts))
