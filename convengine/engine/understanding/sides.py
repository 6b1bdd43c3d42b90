"""The first and the last of two values: "from Friday to Sunday", "leaving on the 4th, back on the 9th"."""

from collections.abc import Sequence

from convengine.engine.understanding.corrections import CORRECTIONS
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.labels import Label
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Sort, Span, list_paired_sorts
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import is_part

#: The classes of words before the first and before the last value.
_SIDES = ("first_of_two", "last_of_two")


def find_sides(understanding: Understanding, form: OpenForm) -> dict[int, Label]:
    """The field of each value, by identity, that is the first or the last of two, like a name of it before the value.

    The words before a value say it; without them, the order of two plain values for two open fields.
    """
    sides: dict[int, Label] = {}
    for sort in list_paired_sorts([item.spec for item in form.fields]) if holds(Principle.SIDES) else ():
        fields = [item for item in form.fields if sort in item.sorts]
        spans = _list_spans(understanding, sort)
        marks = [_find_side(understanding, span, spans) for span in spans]
        if len(spans) == len(fields):
            marks = _complete(understanding, form, fields, spans, marks)
        for span, side in zip(spans, marks, strict=True):
            if side is not None:
                sides[id(span)] = Label(fields[side].path, span.start, span.start, is_whole=False)
    return sides


def _list_spans(understanding: Understanding, sort: Sort) -> list[Span]:
    """The values of a sort, without those inside a longer one."""
    own = [span for span in understanding.spans if span.sort is sort and not span.field]
    return [span for span in own if not any(is_part(span, other) for other in own)]


def _find_side(understanding: Understanding, span: Span, spans: Sequence[Span]) -> int | None:
    """0 for the first and 1 for the last, by the nearest such word between the value before and this one."""
    chart = understanding.chart
    since = max((other.end for other in spans if other.end <= span.start), default=0)
    begins = max((start for start in understanding.begins if start <= span.start), default=0)
    for at in range(span.start - 1, max(since, begins) - 1, -1):
        for side, name in enumerate(_SIDES):
            match = chart.match_longest(name, at)
            if match is not None and match.end <= span.start:
                return side
    return None


def _complete(
    understanding: Understanding,
    form: OpenForm,
    fields: Sequence[FormField],
    spans: Sequence[Span],
    marks: Sequence[int | None],
) -> list[int | None]:
    """The sides of two values: the one that is marked leaves the other one; without marks, their order."""
    first, second = marks
    if first is None and second is None:
        is_plain = not any(span.is_weak for span in spans) and all(form.is_open(item.path) for item in fields)
        return [0, 1] if is_plain and not _may_replace(understanding, *spans) else [None, None]
    first = first if first is not None else 1 - (second or 0)
    return [first, 1 - first] if second in (None, 1 - first) else [None, None]


def _may_replace(understanding: Understanding, early: Span, late: Span) -> bool:
    """True where the second value corrects the first one, or is another possible one."""
    between = range(early.end, late.start)
    return any(move.kind in CORRECTIONS and move.start in between for move in understanding.moves) or any(
        cue.name in ("alternative", "correction", "denial") and cue.start in between for cue in understanding.cues
    )
