"""The phrases of a sort in a message."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from convengine.engine.understanding.grammar import Chart, GrammarMatch, GrammarPhrase
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.words import Word

#: Sorts of which a longer phrase wins over a weak one: "5" is no day in "5 hours", and no time in "5 December".
_RIVALS: Mapping[Sort, tuple[Sort, ...]] = {
    Sort.DAY: (Sort.CLOCK, Sort.LENGTH, Sort.NUMBER),
    Sort.CLOCK: (Sort.DAY, Sort.LENGTH, Sort.NUMBER),
    Sort.MOMENT: (Sort.LENGTH, Sort.NUMBER),
    Sort.LENGTH: (Sort.DAY, Sort.CLOCK, Sort.NUMBER),
}
#: Between two numbers without blanks, these make them one: "14:30", "3.5", "5/12", "10:00+02:00".
_JOINTS = (".", ",", ":", ";", "/", "+", "'")
#: Classes of words that may stand beside a whole answer.
_BESIDE_WHOLE = ("filler", "courtesy", "opening", "lead_in", "lead_out", "correction", "label_joint")
#: The slots of a phrase that is nothing but two numbers.
_TWO_NUMBERS = {"weak", "number_value", "number_value_2"}
#: Longer numbers on both sides of a hyphen are whole days or codes, shorter ones a range: "2-3 weeks".
_LONGEST_OF_RANGE = 2


def find_telling_words(chart: Chart) -> frozenset[int]:
    """The words of a message without the small ones that may stand beside a whole answer; found once."""
    if chart.telling is None:
        chart.telling = chart.content - chart.cover(_BESIDE_WHOLE)
    return chart.telling


def find_phrases(chart: Chart, sort: Sort) -> Sequence[Span]:
    """The longest phrase of a sort at each word, without those inside of another one.

    A weak one does not count either where it is part of a longer phrase of a rival sort.
    """
    spans = [
        Span(sort, start, match.end, match.value, is_weak(chart, start, match.end, match.value))
        for start, match in _list_longest(chart, sort)
    ]
    if not any(span.is_weak for span in spans):
        return spans
    ends = _list_furthest_ends(chart, sort)
    before = (0, *ends)
    # A part of a longer phrase is inside of one that begins before it, or that reaches further.
    return [
        span for span in spans if not span.is_weak or (before[span.start] < span.end and ends[span.start] <= span.end)
    ]


def _list_longest(chart: Chart, sort: Sort) -> Iterator[tuple[int, GrammarMatch]]:
    """The longest phrase at each word that reaches further than those before; none that splits a number."""
    last = 0
    for start in range(len(chart.words)):
        if starts_inside_number(chart.words, start):
            continue
        whole = (match for match in chart.match(sort.value, start) if not starts_inside_number(chart.words, match.end))
        match = next(whole, None)
        if match is not None and match.end > last:
            yield start, match
            last = match.end


def _list_furthest_ends(chart: Chart, sort: Sort) -> Sequence[int]:
    """For each word, how far the longest phrases of the rivals of a sort reach that begin with it or before."""
    ends = [0] * len(chart.words)
    for rival in _RIVALS.get(sort, ()):
        for start, match in _list_longest(chart, rival):
            # "For 8" may be an hour, too, and "27. bis 29." two days.
            is_range = sort is Sort.DAY and match.value.slots.keys() == _TWO_NUMBERS
            if not match.value.slots.get("hour") and not is_range:
                ends[start] = max(ends[start], match.end)
    return list(accumulate(ends, max))


def starts_inside_number(words: Sequence[Word], index: int) -> bool:
    """True between the words of one number, time, range or code: before and behind the colon of "14:30", in "B12"."""
    if 0 < index < len(words) and words[index].is_glued and not (words[index - 1].is_sign or words[index].is_sign):
        return words[index - 1].is_number or words[index].is_number
    return _is_joined(words, index - 1, index + 1) or _is_joined(words, index - 2, index)


def is_range(words: Sequence[Word], start: int) -> bool:
    """True for two numbers with a hyphen between them, and no blanks: "27-29"."""
    return start + 2 < len(words) and words[start + 1].key == "-" and _is_joined(words, start, start + 2)


def _is_joined(words: Sequence[Word], first: int, last: int) -> bool:
    """True for two numbers with a sign between them, and no blanks."""
    if first < 0 or last >= len(words) or not (words[first].is_number and words[last].is_number):
        return False
    if not (words[first + 1].is_glued and words[last].is_glued):
        return False
    is_short = max(len(words[first].key), len(words[last].key)) <= _LONGEST_OF_RANGE
    return words[first + 1].key in _JOINTS or (words[first + 1].key == "-" and is_short)


def is_weak(chart: Chart, start: int, end: int, phrase: GrammarPhrase) -> bool:
    """True for a phrase that the tables call weak, unless its outer phrase is `strong`, and for a word with a slip."""
    if chart.is_mended(start, end):
        return True
    inner = (value for value in phrase.slots.values() if isinstance(value, GrammarPhrase))
    return not phrase.slots.get("strong") and bool(
        phrase.slots.get("weak") or any(item.slots.get("weak") and len(phrase.slots) == 1 for item in inner)
    )
