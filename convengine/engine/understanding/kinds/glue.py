"""What touches a value and is no part of it makes it doubtful: "3§", "5 March 1985", "Friday or later"."""

from collections.abc import Sequence
from dataclasses import replace

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.words import Word, cover

_SORTS = (Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.NUMBER)
#: Signs that people write beside a number, and that change nothing.
_HARMLESS = frozenset(".,!?;:()[]{}\"'*~-+/&|<>_=#…“”„«»·•")
#: From here on, signs are pictures.
_FIRST_PICTURE = 0x2600
_YEARS = range(1000, 3000)
#: Slots of a day in numbers with blanks, or of its number alone.
_BARE = frozenset({"day_number", "past"})


def mark_touched(chart: Chart, spans: Sequence[Span]) -> list[Span]:
    """The spans; a value that something unread touches is marked."""
    starts = {(span.sort, span.start) for span in spans}
    # In a language without tables, a word that neither the tables nor a value has may change a number.
    strange = chart.content - cover(spans) if chart.grammar.is_borrowed else ()
    keys = (chart.words[at].key for at in strange)
    has_unread = any(key not in chart.grammar.words and key not in chart.grammar.talk for key in keys)
    plain = cover(span for span in spans if not span.is_weak)
    return [
        replace(span, is_touched=True)
        if span.sort in _SORTS
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
    return not is_one_word and not any((sort, match.end) in starts for sort in _SORTS)
