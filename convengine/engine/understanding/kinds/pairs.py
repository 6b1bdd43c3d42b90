"""Values beside each other: "from the 3rd to the 7th" is one answer, and what touches a value makes it doubtful."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.days import SINCE, read_day
from convengine.engine.understanding.kinds.find import starts_inside_number
from convengine.engine.understanding.kinds.picks import PICK, add_picks, choose_offered, get_otherwise
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import (
    Finder,
    RefusalReason,
    Resolved,
    Situation,
    Sort,
    Span,
    choose_among,
    list_sorts,
    refuse,
)
from convengine.engine.understanding.words import Word, cover

#: `means` of a span with two values for one field.
PAIR = "pair"
_SORTS = (Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH)
#: Weak phrases that are plain beside another one: "Friday to Sunday", "16th to 27th".
_PLAIN_WITH_ANOTHER = ("weekday", "day_only")
#: Words between the word of a joint and the second value, and before a range.
_SMALL = ("filler", "range_start")
#: Values of these are doubtful where something touches them.
_TOUCHED = (*_SORTS, Sort.NUMBER)
#: Signs that people write beside a number, and that change nothing.
_HARMLESS = frozenset(".,!?;:()[]{}\"'*~-+/&|<>_=#…“”„«»·•")
#: From here on, signs are pictures.
_FIRST_PICTURE = 0x2600
_YEARS = range(1000, 3000)
#: Slots of a day in numbers with blanks, or of its number alone.
_BARE = frozenset({"day_number", "past"})


def join_pairs(chart: Chart, spans: Sequence[Span], specs: Sequence[FieldSpec]) -> tuple[Span, ...]:
    """The spans with each range dealt to the two fields of its sort; with one field, and of alternatives, one span.

    The day behind an "until" is for the last of two fields.
    """
    if not holds(Principle.PAIRS):
        return tuple(spans)
    joined = [span for span in spans if span.sort not in _SORTS]
    for sort in _SORTS:
        taken = _list_words_of_others(spans, sort)
        values, parts_of_others = list[Span](), list[Span]()
        for span in sorted((span for span in spans if span.sort is sort), key=lambda span: span.start):
            is_part = span.is_weak and taken.issuperset(range(span.start, span.end))
            (parts_of_others if is_part else values).append(span)
        fields = [spec.name for spec in specs if sort in list_sorts(spec)] if values else []
        joined += [*parts_of_others, *_join(chart, _add_halves(chart, values, taken), fields)]
    return tuple(add_picks(chart, _mark_touched(chart, joined), specs))


def _list_words_of_others(spans: Sequence[Span], sort: Sort) -> set[int]:
    """The words of longer values of other sorts: the 12 of "12 Mill Lane" is no day."""
    return cover(span for span in spans if not span.is_weak and span.sort is not sort and span.end > span.start + 1)


def _join(chart: Chart, spans: list[Span], fields: Sequence[str]) -> list[Span]:
    """The spans of one sort, with the first pair joined or dealt. Without one, "until" says the last of two fields."""
    pair = _find_pair(chart, spans, fields)
    if pair is None:
        return [_give_last(chart, span, fields[1]) for span in spans] if len(fields) == 2 else spans
    first, last, joint = pair
    others = [span for span in spans if span is not first and span is not last]
    if joint != "range" or len(fields) != 2:  # Of one field, and of alternatives, one span.
        joined = [Span(first.sort, first.start, last.end, GrammarPhrase(PAIR, {"halves": (first, last)}))]
    else:
        if last.sort is Sort.DAY:
            last = replace(last, phrase=GrammarPhrase(last.phrase.means, {**last.phrase.slots, SINCE: first.phrase}))
        joined = [replace(span, is_weak=False, field=field) for span, field in zip((first, last), fields, strict=True)]
    return sorted([*others, *joined], key=lambda span: span.start)


def _find_pair(chart: Chart, spans: Sequence[Span], fields: Sequence[str]) -> tuple[Span, Span, str] | None:
    """The first two neighbours with a joint between, and its name. Of three fields, no range says which two it is for.

    Returns None if there are none.
    """
    for first, last in pairwise(spans):
        joint = _find_joint(chart, first.end, last.start)
        is_plain = not (first.is_weak and last.is_weak) or (_is_named(first) and _is_named(last) and len(fields) == 2)
        if joint and is_plain and (joint != "range" or len(fields) <= 2):
            if joint == "range" and first.sort is Sort.MOMENT:
                continue
            return first, last, joint
    return None


def _is_named(span: Span) -> bool:
    """True for a weekday and for "16th"; false for a bare number."""
    return span.phrase.means in _PLAIN_WITH_ANOTHER and "day_number" not in span.phrase.slots


def _give_last(chart: Chart, span: Span, field: str) -> Span:
    """The "until the 8th" of two fields, for the last one; also a weekday."""
    before = range(max(0, span.start - 2), span.start)
    ends = ((at, match.end) for at in before for match in chart.match("range_end", at))
    start = next((at for at, end in ends if end == span.start), None)
    return span if start is None else replace(span, start=start, field=field, is_weak=False)


def _find_joint(chart: Chart, start: int, end: int) -> str:
    """`range` or `alternative`, for what stands between two values; blank for anything else."""
    for name in ("range", "alternative"):
        for match in chart.match(name, start):
            if all(any(chart.match(small, at) for small in _SMALL) for at in range(match.end, end)):
                return name
    return ""


def _add_halves(chart: Chart, spans: Sequence[Span], others: Collection[int]) -> list[Span]:
    """The spans, with the halves that have the unit of the other one: the 2 of "2 or 3 hours", the two of "a week or
    two". `others`: words of values of other sorts.
    """
    strong, halves = [span for span in spans if not span.is_weak], list[Span]()
    plain = {*others} | cover(strong)
    for span in strong:
        before, behind = range(max(0, span.start - 5), span.start - 1), range(span.end + 1, span.end + 2)
        for starts in (before,) if span.sort is Sort.DAY else (before, behind):
            half = _find_half(chart, span, [at for at in starts if at not in plain])
            if half and _find_joint(chart, min(half.end, span.end), max(half.start, span.start)):
                halves.append(half)
    for half in halves:
        spans = [span for span in spans if span.end <= half.start or half.end <= span.start]
    return sorted([*spans, *halves], key=lambda span: span.start)


def _find_half(chart: Chart, span: Span, starts: Sequence[int]) -> Span | None:
    """A number at one of some words that is a value of the sort with the end of a span: "2" and the "hours" of it.

    Returns None if there is none.
    """
    for start in starts:
        for match in () if starts_inside_number(chart.words, start) else chart.match("amount", start):
            for first in range(span.start + 1, span.end):
                if starts_inside_number(chart.words, first):
                    continue
                words = (*chart.words[start : match.end], *chart.words[first : span.end])
                whole = Chart(chart.grammar, words, chart.text).match_longest(span.sort, 0)
                if whole and whole.end == len(words):
                    return Span(span.sort, start, match.end, whole.value)
    return None


def _mark_touched(chart: Chart, spans: Sequence[Span]) -> list[Span]:
    """The spans; a value that something unread touches is marked: "3§", "5 March 1985", "Friday or later"."""
    starts = {(span.sort, span.start) for span in spans}
    # In a language without tables, a word that neither the tables nor a value has may change a number.
    strange = chart.content - cover(spans) if chart.grammar.is_borrowed else ()
    keys = (chart.words[at].key for at in strange)
    has_unread = any(key not in chart.grammar.words and key not in chart.grammar.talk for key in keys)
    plain = cover(span for span in spans if not span.is_weak)
    return [
        replace(span, is_touched=True)
        if span.sort in _TOUCHED
        and (has_unread or _is_touched(chart, span, starts) or _is_one_of_numbers(chart, span, plain))
        else span
        for span in spans
    ]


def _is_one_of_numbers(chart: Chart, span: Span, plain: set[int]) -> bool:
    """True for a bare day beside another number that is no value: "28 for 96"."""
    if span.sort is not Sort.DAY or not span.is_weak or _BARE.isdisjoint(span.phrase.slots):
        return False
    beside = (*range(max(0, span.start - 2), span.start), *range(span.end, min(len(chart.words), span.end + 2)))
    return any(chart.words[at].is_number and at not in plain for at in beside)


def _is_touched(chart: Chart, span: Span, starts: set[tuple[Sort, int]]) -> bool:
    """True beside an unknown sign without a blank, and before a year or an alternative that nothing reads."""
    words, end = chart.words, span.end
    if span.start and words[span.start].is_glued and _is_unknown(words[span.start - 1]):
        return True
    if end == len(words):
        return False
    if words[end].is_glued and _is_unknown(words[end]):
        return True
    if span.sort in (Sort.DAY, Sort.MOMENT) and words[end].is_number and int(words[end].key) in _YEARS:
        return len(words[end].key) == 4 and (span.sort, end) not in starts
    return _has_alternative(chart, span, starts)


def _is_unknown(word: Word) -> bool:
    return word.is_sign and word.key[0] not in _HARMLESS and ord(word.key[0]) < _FIRST_PICTURE


def _has_alternative(chart: Chart, span: Span, starts: set[tuple[Sort, int]]) -> bool:
    """True for the "tomorrow" of "tomorrow or later": what stands behind the "or" is no value."""
    match = None if chart.words[span.end].is_sign else chart.match_longest("alternative", span.end)
    if match is None or match.end == len(chart.words) or chart.words[match.end].is_sign:
        return False
    is_one_word = any(cue.end > match.end for name in ("filler", "least") for cue in chart.match(name, span.end))
    return not is_one_word and not any((sort, match.end) in starts for sort in _TOUCHED)


def resolve(finder: Finder, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
    """Resolve a span for a field. A pair gives both of its values, and the user chooses one.

    Returns None if it is no value of the field.
    """
    resolved = _resolve_pick(finder, span, spec, situation, is_meant=is_meant)
    is_doubtful = span.is_touched or span.phrase.slots.get("doubtful")
    return replace(resolved, is_doubtful=True) if resolved and is_doubtful else resolved


def _resolve_pick(
    finder: Finder, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool
) -> Resolved | None:
    """Resolve a span for a field; the answer to a question for one of several values chooses among these."""
    offered = situation.listed_options if is_meant and not spec.options else ()
    if span.phrase.means != PICK:
        resolved = _resolve(finder, span, spec, situation, is_meant=is_meant)
        return choose_offered(span.phrase, resolved, offered) or resolved
    if chosen := choose_offered(span.phrase, None, offered):
        return chosen
    if otherwise := get_otherwise(span):
        return _resolve(finder, otherwise, spec, situation, is_meant=is_meant)
    has_part = "part" in span.phrase.slots and span.sort is Sort.CLOCK
    return refuse(RefusalReason.TIME_MISSING, hours=list(span.phrase.slots["part"])) if has_part and is_meant else None


def _resolve(finder: Finder, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
    if span.phrase.means != PAIR:
        return _resolve_single(finder, span, spec, situation, is_meant=is_meant)
    first, last = span.phrase.slots["halves"]
    if span.sort is Sort.MOMENT:
        return _resolve_moments(finder, (first, last), spec, situation)
    early = _resolve_single(finder, first, spec, situation, is_meant=True)
    if span.sort is Sort.DAY and early and early.is_value and (day := read_day(early.value)):
        # "Tomorrow or the day after"
        situation = replace(situation, earlier_days={**situation.earlier_days, spec.name: day})
    late = _resolve_single(finder, last, spec, situation, is_meant=True)
    values = [value for half in (early, late) if half for value in half.values]
    return choose_among(values) if len(set(values)) > 1 else early or late


def _resolve_moments(
    finder: Finder, halves: tuple[Span, Span], spec: FieldSpec, situation: Situation
) -> Resolved | None:
    """Both of "Friday or Saturday at 7 pm": what one half lacks, the other one has."""
    first, last = (_resolve_single(finder, half, spec, situation, is_meant=True) for half in halves)
    if first is None or last is None:
        return first or last
    if first.reason == RefusalReason.TIME_MISSING and last.is_value:
        known = replace(situation, known_part=str(last.value)[11:16])
        first = _resolve_single(finder, halves[0], spec, known, is_meant=True) or first
    elif last.reason == RefusalReason.DATE_MISSING and first.is_value:
        known = replace(situation, known_part=str(first.value)[:10])
        last = _resolve_single(finder, halves[1], spec, known, is_meant=True) or last
    values = (*first.values, *last.values)
    return choose_among(values) if values else first


def _resolve_single(
    finder: Finder, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool
) -> Resolved | None:
    """Resolve a span that is no pair. A moment that no calendar has is refused: "in 99999999 hours"."""
    try:
        return finder.resolve(span, spec, situation, is_meant=is_meant)
    except OverflowError:
        return refuse(RefusalReason.INVALID_DATE)
