"""Weak spans beside plainer ones: which are no values of their own."""

from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import is_part, is_within


def is_outdone(understanding: Understanding, span: Span) -> bool:
    """True for a weak span that something longer or plainer in the message outdoes."""
    tests = (_is_in_longer, _has_value, _is_other_choice, _is_beaten)
    return span.is_weak and any(test(understanding, span) for test in tests)


def _is_in_longer(understanding: Understanding, span: Span) -> bool:
    """True for a weak span in something longer: the "3" of "3 pm" is no day, "speak to one of you" no time."""
    plain = (other for other in understanding.spans if not other.is_weak)
    moves = (move for move in understanding.moves if move.kind is not MoveKind.ASK)
    return any(is_part(span, other) for other in plain) or any(is_part(span, move) for move in moves)


def _is_beaten(understanding: Understanding, span: Span) -> bool:
    """True for a weak span beside a plain option: the "4" of "4 shirts", which is neither a day nor the fourth one."""
    options = [other for other in understanding.spans if other.sort is Sort.OPTION and not other.is_weak]
    if span.sort is Sort.OPTION:
        return any(other.field == span.field for other in options)
    return span.sort in (Sort.DAY, Sort.CLOCK, Sort.MOMENT) and any(other.start == span.end for other in options)


def _has_value(understanding: Understanding, span: Span) -> bool:
    """True for a code with a plain value in it: the "14 May to 7 Hill Road" of an address."""
    plain = (other for other in understanding.spans if not other.is_weak)
    return span.sort is Sort.PATTERN and any(is_within(other, span) for other in plain)


def _is_other_choice(understanding: Understanding, span: Span) -> bool:
    """True for the 3 of "3 or 4 people" as anything but a number."""
    chart = understanding.chart
    behind = {match.end for match in chart.match("alternative", span.end)}
    before = {cue.start for cue in understanding.cues if cue.name == "alternative" and cue.end == span.start}
    plain = [other for other in understanding.spans if not other.is_weak]
    sorts = {other.sort for other in plain if other.start in behind or other.end in before}
    return bool(sorts) and span.sort not in sorts


def is_in_range(understanding: Understanding, span: Span) -> bool:
    """True for a value of a range or a choice: the 3rd of "3rd to 7th July", the 4 of "3 or 4"."""
    others = [other for other in understanding.spans if other.sort is span.sort]
    chart = understanding.chart
    return any(_joins(chart, span, other) or _joins(chart, other, span) for other in others)


def _joins(chart: Chart, first: Span, last: Span) -> bool:
    return any(match.end == last.start for name in ("range", "alternative") for match in chart.match(name, first.end))
