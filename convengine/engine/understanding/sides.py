"""The first and the last of two values: "from Friday to Sunday", "leaving on the 4th, back on the 9th"."""

from collections.abc import Sequence

from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.labels import Label
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Span, list_paired_sorts
from convengine.engine.understanding.understand import Understanding

#: The classes of words before the first and before the last value.
_SIDES = ("first_of_two", "last_of_two")


def find_sides(understanding: Understanding, form: OpenForm) -> dict[int, Label]:
    """The field of each value, by identity, that is the first or the last of two, like a name of it before the value.

    The words before a value say it.
    """
    sides: dict[int, Label] = {}
    for sort in list_paired_sorts([item.spec for item in form.fields]) if holds(Principle.SIDES) else ():
        fields = [item for item in form.fields if sort in item.sorts]
        spans = [span for span in understanding.spans if span.sort is sort]
        for span in spans:
            if (side := _find_side(understanding, span, spans)) is not None:
                sides[id(span)] = Label(fields[side].path, span.start, span.start, is_whole=False)
    return sides


def _find_side(understanding: Understanding, span: Span, spans: Sequence[Span]) -> int | None:
    """0 for the first and 1 for the last, by the nearest such word between the value before and this one.

    Returns None if there is none.
    """
    chart = understanding.chart
    since = max((other.end for other in spans if other.end <= span.start), default=0)
    begins = max((start for start in understanding.begins if start <= span.start), default=0)
    for at in range(span.start - 1, max(since, begins) - 1, -1):
        for side, name in enumerate(_SIDES):
            match = chart.match_longest(name, at)
            if match is not None and match.end <= span.start:
                return side
    return None
