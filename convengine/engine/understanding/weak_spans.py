"""Spans that are no values of their own: weak ones beside plainer ones, and options that are only compared."""

from collections.abc import Sequence

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.kinds.choices import TELLING
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import Extent, is_part, is_within

#: What compares has no more words.
_MOST_WORDS = 4


def is_outdone(understanding: Understanding, span: Span) -> bool:
    """True for a weak span that something longer or plainer in the message outdoes."""
    if not span.is_weak:
        return False
    plain = [other for other in understanding.spans if not other.is_weak]
    wholes: list[Extent] = [*plain, *(move for move in understanding.moves if move.kind is not MoveKind.ASK)]
    # The "3" of "3 pm" is no day, "speak to one of you" no time.
    if any(is_part(span, whole) for whole in wholes):
        return True
    # A code with a plain value in it: the "14 May to 7 Hill Road" of an address.
    if span.sort is Sort.PATTERN and any(is_within(other, span) for other in plain):
        return True
    return _is_other_choice(understanding, span, plain) or _is_beaten(span, plain)


def _is_beaten(span: Span, plain: Sequence[Span]) -> bool:
    """True for a weak span beside a plain option: the "4" of "4 shirts", which is neither a day nor the fourth one."""
    options = [other for other in plain if other.sort is Sort.OPTION]
    if span.sort is Sort.OPTION:
        return any(other.field == span.field for other in options)
    return span.sort in (Sort.DAY, Sort.CLOCK, Sort.MOMENT) and any(other.start == span.end for other in options)


def _is_other_choice(understanding: Understanding, span: Span, plain: Sequence[Span]) -> bool:
    """True for the 3 of "3 or 4 people" as anything but a number."""
    chart = understanding.chart
    behind = {match.end for match in chart.match("alternative", span.end)}
    before = {cue.start for cue in understanding.cues if cue.name == "alternative" and cue.end == span.start}
    sorts = {other.sort for other in plain if other.start in behind or other.end in before}
    return bool(sorts) and span.sort not in sorts


def is_only_compared(understanding: Understanding, form: OpenForm, clause: Clause, span: Span) -> bool:
    """True for an option behind a word that compares ("smaller than large"); where it was asked for, also in a clause
    that asks about it: "how big is large?".

    A telling word counts in no clause that asks: "is there a hazelnut syrup?".
    """
    chart = understanding.chart
    if span.sort is not Sort.OPTION or not holds(Principle.COMPARISONS):
        return False
    before = range(max(0, span.start - _MOST_WORDS), span.start)
    if any(match.end == span.start for at in before for match in chart.match("comparing", at)):
        return True
    if span.phrase.means == TELLING and clause.force is Force.ASKS and not clause.is_wish:
        return True
    before = range(clause.start, span.start) if span.field == form.asked_path else range(0)
    return clause.force is Force.ASKS and any(chart.match("inquiry", at) for at in before)


def is_in_range(understanding: Understanding, span: Span) -> bool:
    """True for a value of a range or a choice: the 3rd of "3rd to 7th July", the 4 of "3 or 4"."""
    others = [other for other in understanding.spans if other.sort is span.sort]
    chart = understanding.chart
    return any(_joins(chart, span, other) or _joins(chart, other, span) for other in others)


def _joins(chart: Chart, first: Span, last: Span) -> bool:
    return any(match.end == last.start for name in ("range", "alternative") for match in chart.match(name, first.end))
