"""Choices: the options of a form's fields in a message, by their labels, values and synonyms."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, Grammar, GrammarPhrase
from convengine.engine.understanding.kinds.find import find_telling_words
from convengine.engine.understanding.kinds.option_index import (
    JOINTS,
    SHORTEST_PART,
    OptionIndex,
    get_equals,
    get_indexes,
)
from convengine.engine.understanding.span import Resolved, Situation, Sort, Span, accept, choose_among
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.words import Word, cover, fold

#: How alike a word must be to an option to be taken for it, and to be offered; and how much more than any other option.
TAKE, OFFER, MARGIN = 84.0, 72.0, 8.0
#: Shorter words are not compared by likeness.
_SHORTEST_ALIKE = 4
#: Shorter words name an option only where they are all of one of its spellings.
_SHORTEST_OWN = 3
#: `means` of a span: an option; a word of it; words that are nearly spelled like it: near enough to take it, or only to
#: offer it; its place in the list. All but the first count only for the field that was asked for, or is named.
OPTION, PART, ALIKE, NEAR, PLACE = "option", "part", "alike", "near", "place"
#: `means` of a word that no other option of any field of the form has. It counts for any field.
TELLING = "telling"


class ChoiceFinder:
    """Finds the options of the form's choices (`Sort.OPTION`), each for its field."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The options that are named in full, else by a word of their own, else nearly."""
        indexes = get_indexes(tuple(specs), chart.grammar)
        if not indexes:
            return []
        named = {index.name: _find_spellings(chart, index) for index in indexes}
        known = {at for at, word in enumerate(chart.words) if any(word.key in index.words for index in indexes)}
        small = {at for at, word in enumerate(chart.words) if word.is_sign or chart.match("filler", at)}
        places = list(_find_places(chart))
        telling = _get_telling(indexes, chart.grammar)
        for index in indexes:
            spans = named[index.name]
            parts = _find_words(chart, index, small | cover(spans))
            spans += [_mark_telling(chart, span, telling) for span in parts]
            own = cover(spans)
            spans += _find_alike(chart, index, small | own | known)
            spans += [
                Span(Sort.OPTION, start, end, GrammarPhrase(PLACE, {"place": position}), True, index.name)
                for start, end, position in places
                if own.isdisjoint(range(start, end))
            ]
        return [span for spans in named.values() for span in _doubt_rivals(spans)]

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The value of the option, or of the options that are equally near.

        Returns None for what only nearly names an option, unless the field was asked for or is named.
        """
        means, slots = span.phrase.means, span.phrase.slots
        if means in (PART, ALIKE, NEAR, PLACE) and not is_meant:
            return None
        if means == PLACE:
            listed, position = situation.listed_options, slots["place"]
            return accept(listed[position]) if -len(listed) <= position < len(listed) else None
        return choose_among([spec.options[position].value for position in slots["places"]])


def _find_places(chart: Chart) -> Iterator[tuple[int, int, int]]:
    """Where a message names an option by its place in the list, and the place.

    A bare number counts nothing, and must be all of it but for small words.
    """
    for at in range(len(chart.words)):
        match = chart.match_longest(PLACE, at)
        number = next(iter(match.value.slots.values())) if match else 0
        if match is None or not number:
            continue
        if match.end == at + 1 and chart.words[at].is_number:
            counts = any(counted.end > at + 1 for counted in chart.match("number", at))
            if counts or not find_telling_words(chart) <= {at}:
                continue
        yield at, match.end, number - 1 if number > 0 else number


@lru_cache(maxsize=256)
def _get_telling(indexes: tuple[OptionIndex, ...], grammar: Grammar) -> frozenset[str]:
    """The words that only one option of all fields has, and that are no words of the language's tables.

    One of several words of a synonym tells nothing: the "came" of "never came".
    """
    counts = Counter(word for index in indexes for word in index.words)
    # One option of its field has it, or it is all of what tells one from the others.
    words = {
        word
        for index in indexes
        for word in index.naming
        if len(index.words.get(word, ())) == 1 or any({word} in cores for cores in index.cores.values())
    }
    known = grammar.words | grammar.talk
    return frozenset(word for word in words - known if counts[word] == 1 and len(word) >= _SHORTEST_OWN)


def _mark_telling(chart: Chart, span: Span, telling: Collection[str]) -> Span:
    """A span of words that name one option, for any field, if one of them tells it from all options of the form."""
    places = span.phrase.slots["places"]
    if span.phrase.means != PART or len(places) != 1:
        return span
    keys = [word.key for word in chart.words[span.start : span.end] if not word.is_mended]
    if _is_hyphened(chart.words, span.start, span.end):
        return replace(span, is_touched=True)
    keys = [key for key in keys if key not in chart.grammar.words and key not in chart.grammar.talk]
    forms = {*keys, *(stem(key, chart.grammar) for key in keys)}
    if not any(form in telling for form in forms):
        return span
    return replace(span, phrase=GrammarPhrase(TELLING, span.phrase.slots), is_weak=False)


def _doubt_rivals(spans: Sequence[Span]) -> Iterator[Span]:
    """The spans of one field; an option beside a telling word of another one is doubtful."""
    named = {span.phrase.slots["places"] for span in spans if span.phrase.means in (OPTION, TELLING)}
    is_doubtful = len(named) > 1 and any(span.phrase.means == TELLING for span in spans)
    for span in spans:
        yield replace(span, is_touched=True) if is_doubtful and span.phrase.means in (OPTION, TELLING) else span


def _make_span(index: OptionIndex, start: int, end: int, places: Collection[int], means: str, *, weak: bool) -> Span:
    return Span(Sort.OPTION, start, end, GrammarPhrase(means, {"places": tuple(sorted(places))}), weak, index.name)


def _find_spellings(chart: Chart, index: OptionIndex) -> list[Span]:
    """The options whose whole label, value or synonym the message has; of two at one word the longer one."""
    matches: dict[tuple[int, int], tuple[set[int], bool]] = {}
    typed = [_find_base(word.key, index, chart.grammar) for word in chart.words]
    equals = get_equals(chart.grammar)
    keys = [equals.get(key, key) for key in typed]
    for start, first in enumerate(keys):
        for words, compared, position in index.spellings.get(first, ()):
            end = _match_words(keys, start, compared)
            if end and not _is_hyphened(chart.words, start, end):
                places, is_strong = matches.get((start, end), (set(), False))
                is_strong = is_strong or _is_equal(chart, typed, start, end, words)
                matches[start, end] = (places | {position}, is_strong)
    for start, end, places in _find_joined(chart.words, index):
        matches.setdefault((start, end), (places, not chart.is_mended(start, end)))
    spans, covered = list[Span](), set[int]()
    for (start, end), (options, is_strong) in sorted(matches.items(), key=lambda item: item[0][0] - item[0][1]):
        if covered.isdisjoint(range(start, end)):
            spans.append(_make_span(index, start, end, options, OPTION, weak=not is_strong))
            covered.update(range(start, end))
    return spans


def _is_equal(chart: Chart, typed: Sequence[str], start: int, end: int, spelling: Sequence[str]) -> bool:
    """True for the words of a spelling without a slip, if they are more than one small word."""
    keys = tuple(key for key in typed[start:end] if key not in JOINTS) or tuple(typed[start:end])
    if keys != spelling or not all(_is_typed(chart, at) for at in range(start, end)):
        return False
    # A number, a letter, "no" or a filler says little by itself.
    key, says_little = chart.words[start].key, bool(chart.match("filler", start))
    return end > start + 1 or not (len(key) < _SHORTEST_OWN or key.isdecimal() or says_little)


def _is_typed(chart: Chart, at: int) -> bool:
    """True for a word without a slip. Another ending does not count as a slip."""
    word = chart.words[at]
    if not word.is_mended:
        return True
    written = fold(chart.text[word.start : word.end])
    return any(written == word.key + ending or word.key == written + ending for ending in chart.grammar.endings)


def _find_base(key: str, index: OptionIndex, grammar: Grammar) -> str:
    """The word of an option that a word is with another ending: "lattes", "rote"; else the word itself."""
    if len(key) < _SHORTEST_OWN or not key.isalpha() or key in index.spelled or key in grammar.words:
        return key
    for ending in grammar.endings:
        base = key.removesuffix(ending)
        if base in index.spelled and base != key and len(base) >= _SHORTEST_OWN:
            return base
        if key + ending in index.spelled:
            return key + ending
    return key


def _is_hyphened(words: Sequence[Word], start: int, end: int) -> bool:
    """True for the "sugar" of "sugar-free": a part of a compound is another word."""
    return any(
        0 < at < len(words) - 1
        and words[at].key == "-"
        and words[at].is_glued
        and words[at + 1].is_glued
        and not (words[at - 1].is_sign or words[at + 1].is_sign)
        for at in (start - 1, end)
    )


def _find_joined(words: Sequence[Word], index: OptionIndex) -> Iterator[tuple[int, int, set[int]]]:
    """Whole spellings of several words that are written as one ("oatmilk"), and of one word that is written as two."""
    for at, word in enumerate(words):
        spelling = index.whole.get(word.key, ())
        if len(spelling) > 1 and len(word.key) > SHORTEST_PART:
            yield at, at + 1, index.joined[word.key]
        behind = [at + 1] if words[at + 1 : at + 2] and words[at + 1].key.isalpha() else []
        for second in behind if word.key.isalpha() else ():
            key = word.key + words[second].key
            if len(index.whole.get(key, ())) == 1 and len(key) > SHORTEST_PART:
                yield at, second + 1, index.joined[key]


def _match_words(keys: Sequence[str], start: int, spelling: Sequence[str]) -> int:
    """The end of the words of a spelling, with joints between them; 0 if they do not stand there."""
    at = start
    for number, word in enumerate(spelling):
        while number and at < len(keys) and keys[at] in JOINTS and keys[at] != word:
            at += 1
        if at >= len(keys) or keys[at] != word:
            return 0
        at += 1
    return at


def _find_words(chart: Chart, index: OptionIndex, skipped: set[int]) -> list[Span]:
    """Words that few options have, in any form: "cleanings" for "Deep cleaning". Of words in a row, the options that
    have most of them."""
    spans: list[Span] = []
    run: list[tuple[int, set[int]]] = []
    for at, word in enumerate((*chart.words, None)):
        places = _list_places(chart, index, at) if word and at not in skipped else set()
        if places and run and all(item.key == "-" for item in chart.words[run[-1][0] + 1 : at]):
            run.append((at, places))
        elif places or word is None:
            spans += _close_run(chart, index, run)
            run = [(at, places)]
    return spans


def _close_run(chart: Chart, index: OptionIndex, run: Sequence[tuple[int, set[int]]]) -> Iterator[Span]:
    """The span of a run of words: the options that most of them name; none if all options are named as often.

    Of several the one that has no other words: "vanilla" is no "sugar-free vanilla".
    """
    counts = Counter(position for _, places in run for position in places)
    most = max(counts.values(), default=0)
    best = [position for position, count in counts.items() if count == most]
    if len(best) > 1:
        keys = {chart.words[at].key for at, _ in run}
        whole = [position for position in best if any(core <= keys for core in index.cores.get(position, ()))]
        best = whole if len(whole) == 1 else best
    if 0 < len(best) < index.size or (best and index.size == 1):
        yield _make_span(index, run[0][0], run[-1][0] + 1, best, PART, weak=True)


def _list_places(chart: Chart, index: OptionIndex, at: int) -> set[int]:
    """The options that a word names: by a word or its form, the part of a word, or their first letter."""
    key = chart.words[at].key
    if matches := _join_next(chart.words, index, at):
        return matches
    if len(key) == 1 and key.isalpha():
        return index.words.get(key) or (index.initials.get(key, set()) if len(index.initials) == index.size else set())
    if len(key) < _SHORTEST_OWN and not key.isdecimal():
        return set()
    forms = (key, stem(key, chart.grammar), get_equals(chart.grammar).get(key, key))
    matches = next((places for form in forms if (places := index.words.get(form))), None) or index.joined.get(key)
    if not matches and len(key) >= SHORTEST_PART and key not in chart.grammar.words:
        matches = index.parts.get(key)
    return matches or set()


def _join_next(words: Sequence[Word], index: OptionIndex, at: int) -> set[int] | None:
    """The options of a word that is written apart: "mail box", "e-mail", at each of both words.

    Returns None for another word.
    """
    around = [word.key for word in words[max(0, at - 2) : at] if word.key != "-"][-1:]
    behind = [word.key for word in words[at + 1 : at + 3] if word.key != "-"][:1]
    own = words[at].key
    texts = (*(own + key for key in behind), *(key + own for key in around))
    return next((places for text in texts if len(text) > SHORTEST_PART and (places := index.joined.get(text))), None)


def _find_alike(chart: Chart, index: OptionIndex, skipped: set[int]) -> list[Span]:
    """Words that nothing knows and that are nearly spelled like an option, or begin or end with a word of it."""
    spans: list[Span] = []
    for at, word in enumerate(chart.words):
        is_known = at in skipped or word.key in chart.grammar.words
        if is_known or not word.key.isalpha() or len(word.key) < _SHORTEST_ALIKE:
            continue
        points = _compare(index, word.key)
        best = max(points.values(), default=0.0)
        near = {position for position, ratio in points.items() if ratio > best - MARGIN}
        means = ALIKE if best >= TAKE and len(near) == 1 else NEAR
        if best < OFFER:
            near = _find_compound(index, word.key)
        if near and (len(near) < index.size or index.size == 1):
            spans.append(_make_span(index, at, at + 1, near, means, weak=True))
    return spans


def _compare(index: OptionIndex, key: str) -> dict[int, float]:
    """How alike a word and each option are, where it is worth a comparison."""
    from rapidfuzz import fuzz, process

    points: dict[int, float] = {}
    for spelled, ratio, _ in process.extract(
        key, list(index.joined), scorer=fuzz.ratio, score_cutoff=OFFER - MARGIN, limit=None
    ):
        for position in index.joined[spelled] if len(spelled) >= _SHORTEST_ALIKE else ():
            points[position] = max(points.get(position, 0.0), ratio)
    return points


def _find_compound(index: OptionIndex, key: str) -> set[int]:
    """The options of a long word that begins or ends with one of their words: "Zahnreinigung"."""
    sizes = range(SHORTEST_PART + 1, min(len(key), index.longest + 1))
    parts = (part for size in sizes for part in (key[:size], key[-size:]))
    return {position for part in parts for position in index.words.get(part, ())}
