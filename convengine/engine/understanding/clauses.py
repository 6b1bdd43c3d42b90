"""The clauses of a message, and what each word does in its clause: value, cue, filler, or nothing that is known."""

import itertools
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.words import Extent, Word, cover

_Part = TypeVar("_Part", bound=Extent)
_SENTENCE_ENDS = frozenset(".!?;\n")
_JOINTS = frozenset(",-")
#: Classes of words that say what a clause does with its values. The order is the precedence of equally long ones.
_CUES = ("rejection", "denial", "supposition", "limit", "others")
#: Classes of words that say nothing by themselves, or only what the clause is for.
_PLAIN = (
    "courtesy", "why", "question", "request", "least", "inclusion", "filler", "joint", "alternative", "correction",
    "label_joint", "lead_in", "lead_out", "clearing",
)  # fmt: skip
_CLASSES = (*_CUES, *_PLAIN)


class Force(StrEnum):
    """What a clause does with the values in it."""

    STATES = "states"
    ASKS = "asks"
    DENIES = "denies"
    SUPPOSES = "supposes"


@dataclass(frozen=True)
class Cue:
    """Words of a class that are not part of a value."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Clause:
    """A part of a sentence, from one word up to another, with what it does."""

    start: int
    end: int
    force: Force
    cues: tuple[Cue, ...] = ()
    #: How likely it asks, where that was learned from sentences, and how likely it had to be.
    probability: float = 1.0
    needed: float = 0.0

    def overlaps(self, other: Extent) -> bool:
        return self.start < other.end and other.start < self.end

    def has(self, name: str) -> bool:
        return any(cue.name == name for cue in self.cues)

    @property
    def doubts(self) -> bool:
        """True for "maybe Friday", and not for the "my neighbour was here" that makes no yes doubtful."""
        is_aside = self.has("others") and not (self.has("supposition") or self.has("limit"))
        return self.force is Force.SUPPOSES and not is_aside

    @property
    def only_limits(self) -> bool:
        """True for the "after 12:30" of "leaving after 12:30"."""
        return self.has("limit") and not (self.has("supposition") or self.has("others"))

    @property
    def is_wish(self) -> bool:
        """True for "can I book a table for 6?": it looks like a question, and asks for no information."""
        return self.has("request") and not (self.has("question") or self.has("why"))


#: Cues that begin a clause of their own.
_CUTTING = ("joint", "alternative", "denial", "supposition", "limit", "others")
#: Those that may be about what stands before.
_ABOUT_BEFORE = ("denial", "supposition", "limit")
#: Behind a "no" without a sign, they begin something else: "no it is Friday".
_BEHIND_NO = ("filler", "correction", "lead_in", "courtesy", "label_joint", "denial", "request", "question")
#: Values of these sorts can be compared: one is more than another.
_ORDERED = (Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.NUMBER)
_FORCES = {
    "rejection": Force.DENIES,
    "denial": Force.DENIES,
    "supposition": Force.SUPPOSES,
    "limit": Force.SUPPOSES,
    "others": Force.SUPPOSES,
}


def find_cues(chart: Chart, spans: Sequence[Span], fillers: Collection[tuple[str, ...]] = ()) -> list[Cue]:
    """The longest cue at each word, but for words of a plain value: the "to" of "ten to four" is none.

    No cue of the tables has a slip: "Weber" is no "weder". A word of limit without a value ("by card") is a filler.
    `fillers`: words of the form that say nothing; where the language has another cue, that one counts.
    """
    covered = cover(span for span in spans if not span.is_weak)
    cues: list[Cue] = []
    at = 0
    while at < len(chart.words):
        cue = None if at in covered else _find_cue(chart, at, fillers)
        if cue is not None:
            limits_nothing = cue.name == "limit" and not _limits(chart.words, spans, cue)
            cues.append(replace(cue, name="filler") if limits_nothing else cue)
        at = cue.end if cue else at + 1
    return cues


def _limits(words: Sequence[Word], spans: Sequence[Span], cue: Cue) -> bool:
    """True for the "by" of "by Friday" and "3 at most", not for that of "by card", "under Hill", "after 2 cats"."""
    ends = cue.end == len(words) or words[cue.end].is_sign
    return any(span.sort in _ORDERED and (span.start == cue.end or (ends and span.end == cue.start)) for span in spans)


def _find_cue(chart: Chart, start: int, fillers: Collection[tuple[str, ...]]) -> Cue | None:
    """The longest cue of the tables at a word; of equally long ones, the first class in `_CUES` and `_PLAIN`.

    Where none is, the longest of the `fillers`. Returns None if no cue begins there.
    """
    names = chart.list_names(start)
    ends = [
        (match.end, -rank, name)
        for rank, name in enumerate(_CLASSES)
        if name in names and (match := chart.match_exactly(name, start))
    ]
    end, _, name = max(ends, default=(0, 0, ""))
    if name:
        return Cue(name, start, end)
    longest = max(map(len, fillers), default=0)
    keys = tuple(word.key for word in chart.words[start : start + longest])
    size = max((len(filler) for filler in fillers if keys[: len(filler)] == filler), default=0)
    return Cue("filler", start, start + size) if size else None


def split_clauses(chart: Chart, spans: Sequence[Span], cues: Sequence[Cue]) -> tuple[Clause, ...]:
    """The clauses of a message. No value is cut, and a cue that denies or supposes begins a clause of its own."""
    inner = _find_inner(chart, spans, cues)
    others, ranges = list[Cue](), list[Cue]()
    for cue in cues:
        # The "to" of "3rd to 7th July" stands between two values of a sort.
        is_range = chart.match_longest("range", cue.start) is not None
        before = {span.sort for span in spans if span.end == cue.start} if is_range else ()
        is_range = any(span.sort in before and span.start == cue.end for span in spans)
        (ranges if is_range else others).append(replace(cue, name="joint") if is_range else cue)
    sentences = list(_list_sentences(chart, inner))
    cuts = _find_cuts(chart, spans, others, sentences)
    clauses: list[Clause] = []
    for start, end, asks in sentences:
        parts = list(_split_sentence(chart.words, start, end, inner, cuts))
        for part in parts:
            own = (*list_between(others, *part), *list_between(ranges, *part))
            force = _find_force(own, part[0], is_asked=asks and part == parts[-1])
            clauses.append(Clause(*part, force, own))
    # A message of signs alone is a clause, too: "-" leaves a field empty.
    return tuple(clauses) or ((Clause(0, len(chart.words), Force.STATES),) if chart.words else ())


def _find_inner(chart: Chart, spans: Sequence[Span], cues: Sequence[Cue]) -> set[int]:
    """The words of values, cues and moves behind their first one: no clause begins or ends there.

    A weak value of a pattern is no obstacle. The move "don't know yet" is no denial of a "know yet".
    """
    words = chart.words
    plain = [span for span in spans if not (span.is_weak and span.sort is Sort.PATTERN)]
    extents: list[Extent] = [*plain, *cues]
    inner = {index for extent in extents for index in range(extent.start + 1, extent.end)}
    for start in range(len(words)):
        if match := chart.match_longest("move", start):
            # "Yes. Do they …" is no "yes do".
            behind = range(start + 1, match.end)
            inner.update(itertools.takewhile(lambda index: words[index].key not in _SENTENCE_ENDS, behind))
    return inner


def _find_cuts(
    chart: Chart, spans: Sequence[Span], cues: Sequence[Cue], sentences: Sequence[tuple[int, int, bool]]
) -> set[int]:
    """The words that begin a clause inside of a sentence."""
    starts = {start for start, _, _ in sentences}
    behind = _map_behind(cues, ("filler", "courtesy", "joint"))
    starts |= {behind.get(start, start) for start in starts}
    #: The words from which on something is said up to the next comma, dash or end of a sentence.
    going_on: set[int] = set()
    for start, end, _ in sentences:
        goes_on = False
        for index in reversed(range(start, end)):
            goes_on = chart.words[index].key not in _JOINTS and (goes_on or not chart.words[index].is_sign)
            if goes_on:
                going_on.add(index)
    # A denial, doubt or limit with nothing behind it is about what stands before: "at five maybe".
    cuts = {
        cue.start for cue in cues if cue.name in _CUTTING and (cue.name not in _ABOUT_BEFORE or cue.end in going_on)
    }
    return cuts | set(_list_opening_ends(chart, starts, spans, cues))


def list_between(parts: Sequence[_Part], start: int, end: int) -> Sequence[_Part]:
    """Of parts in the order of the message, those that begin from one word up to another."""
    first, last = (bisect_left(parts, at, key=lambda part: part.start) for at in (start, end))
    return parts[first:last]


def _find_force(cues: Sequence[Cue], start: int, *, is_asked: bool) -> Force:
    """What a clause does: by its first cue, else by the beginning or the end of a question."""
    force = next((_FORCES[cue.name] for cue in cues if cue.name in _FORCES), None)
    first = _map_behind(cues, ("courtesy", "joint")).get(start, start)
    begins_question = any(
        cue.start == first and (cue.name in ("why", "question") or (cue.name == "request" and cue.end > cue.start + 1))
        for cue in cues
    )
    return force or (Force.ASKS if begins_question or is_asked else Force.STATES)


def _list_opening_ends(
    chart: Chart, starts: Collection[int], spans: Sequence[Span], cues: Sequence[Cue]
) -> Iterator[int]:
    """Behind each yes or no that a sentence begins with, and behind a no between two values: "60, no 65".

    Behind a no without a sign it must be plain that it denies nothing of what follows: "no the 6th", and not "no nuts".
    """
    small = _map_behind(cues, ("correction", "filler", "courtesy"))
    names = {cue.start: cue.name for cue in cues}
    for start, word in enumerate(chart.words[:-1]):
        opening = None if word.is_mended else chart.match_longest("opening", start)
        if opening is None or opening.end >= len(chart.words):
            continue
        behind = small.get(opening.end, opening.end)
        follow = [span for span in spans if span.start in (opening.end, behind)]
        if start not in starts:
            before = {span.sort for span in spans if span.end <= start}
            is_end = opening.value == "no" and any(span.sort in before for span in follow)
        else:
            is_end = opening.value == "yes" or _denies_nothing(chart, start, opening.end, follow, names)
        if is_end:
            yield opening.end


def _denies_nothing(chart: Chart, start: int, end: int, follow: Sequence[Span], cues: Mapping[int, str]) -> bool:
    """True where a plain value, a cue or a move of its own stands behind a no.

    The "leave that" of "no leave that" is one, and not the "need" of "no need".
    """
    has_plain = any(not span.is_weak and span.sort is not Sort.OPTION for span in follow)
    if has_plain or cues.get(end) in _BEHIND_NO:
        return True
    match = chart.match_longest("move", start)
    return not (match and match.end > end) and chart.match_longest("move", end) is not None


def _map_behind(cues: Sequence[Cue], names: Collection[str]) -> Mapping[int, int]:
    """For each word that a cue of these names begins with, the next word that is not part of such a cue."""
    behind: dict[int, int] = {}
    for cue in reversed(cues):
        if cue.name in names:
            behind[cue.start] = behind.get(cue.end, cue.end)
    return behind


def list_sentences(chart: Chart, spans: Sequence[Span]) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each sentence without its signs, and whether it ends with a question mark."""
    return _list_sentences(chart, {index for span in spans for index in range(span.start + 1, span.end)})


def _list_sentences(chart: Chart, inner: set[int]) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each sentence without its signs, and whether it ends with a question mark.

    No sentence ends at a word of `inner`.
    """
    words, start = chart.words, 0
    for index, word in enumerate(words):
        if word.key not in _SENTENCE_ENDS or index in inner:
            continue
        # In "That is right.Thanks", a capital stands behind a word in small letters.
        begins = chart.text[word.start - 1 : word.start].islower() and chart.text[word.end : word.end + 1].isupper()
        if (begins or not _is_inside(words, index)) and not _is_shortened(chart, index):
            if index > start:
                yield start, index, word.key == "?"
            start = index + 1
    if start < len(words):
        yield start, len(words), False


def _is_inside(words: Sequence[Word], index: int) -> bool:
    """True for the full stop of "example.org" and "10.30"."""
    return words[index].is_glued and index + 1 < len(words) and words[index + 1].is_glued and words[index].key != "\n"


def _is_shortened(chart: Chart, index: int) -> bool:
    """True for the full stop of "A. Hill", "Mr. Hill" and "High Rd. 4".

    It stands behind an initial or a title, before a capital, or behind a shortened word, before a number.
    """
    words = chart.words
    if words[index].key != "." or not index or index + 1 == len(words):
        return False
    before, behind = (chart.text[word.start : word.end] for word in (words[index - 1], words[index + 1]))
    if behind[0].isdigit():
        shortened = (word for word, _ in chart.grammar.list_words("shortened"))
        return words[index].is_glued and words[index - 1].key.endswith(tuple(shortened))
    is_initial = len(before) == 1 and before.isupper() and before != "I"
    return behind[0].isupper() and (is_initial or bool(chart.match("title_word", index - 1)))


def _split_sentence(
    words: Sequence[Word], start: int, end: int, inner: set[int], cuts: set[int]
) -> Iterator[tuple[int, int]]:
    """Start and end of each clause of a sentence: it is split at commas and dashes, and before each word of `cuts`.

    No clause begins or ends at a word of `inner`.
    """
    first = start
    for index in range(start, end):
        if index in inner or index < first:
            continue
        if words[index].key in _JOINTS and not _is_inside(words, index):
            if index > first:
                yield first, index
            first = index + 1
        elif index in cuts and index > first:
            yield first, index
            first = index
    if first < end:
        yield first, end
