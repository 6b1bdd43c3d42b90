"""The first and the last of two values: "from Friday to Sunday", "leaving on the 4th, back on the 9th"."""

from collections.abc import Mapping, Sequence

from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.labels import FieldLabel, get_own_stems, list_relations
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Sort, Span, list_paired_sorts
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

#: The classes of words before the first and before the last value.
_SIDES = ("first_of_two", "last_of_two")


def find_sides(understanding: Understanding, form: OpenForm) -> dict[int, FieldLabel]:
    """The field of each value, by identity, that is for one of two fields, like a name of it before the value.

    The words before a value say it: a part of the field's name, what is first or last, where from and where to.
    """
    if not holds(Principle.SIDES):
        return {}
    sides: dict[int, FormField] = {}
    names = _find_names(understanding, form)
    for sort in list_paired_sorts([item.spec for item in form.fields]):
        fields = [item for item in form.fields if sort in item.sorts]
        spans = [span for span in understanding.spans if span.sort is sort]
        for span in spans:
            item = _find_side(understanding.chart, _list_before(understanding, span, spans), span, fields, names)
            sides |= {id(span): item} if item else {}
    sides |= _find_related_options(understanding, form)
    starts = {id(span): span.start for span in understanding.spans}
    return {key: FieldLabel(item.path, starts[key], starts[key], is_whole=False) for key, item in sides.items()}


def _find_names(understanding: Understanding, form: OpenForm) -> Mapping[int, tuple[FormField, bool]]:
    """By word that is a part of only one field's name: the field, and whether it counts directly before a value only.

    The "to" of "I want to stay until Friday" names no field, and that of "to Friday" may. A limit never does.
    """
    grammar = understanding.chart.grammar
    stems = get_own_stems(form.fields, grammar)
    small, limits = cover(understanding.cues), cover(cue for cue in understanding.cues if cue.name == "limit")
    names: dict[int, tuple[FormField, bool]] = {}
    for at, word in enumerate(understanding.words):
        item = stems.get(stem(word.key, grammar))
        if item is not None and not word.is_mended and at not in limits:
            names[at] = item, at in small
    return names


def _list_before(understanding: Understanding, span: Span, others: Sequence[Span]) -> range:
    """The words before a value, the nearest first, in its sentence and behind the value before it."""
    since = max((other.end for other in others if other.end <= span.start), default=0)
    begins = max((start for start in understanding.begins if start <= span.start), default=0)
    return range(span.start - 1, max(since, begins) - 1, -1)


def _find_side(
    chart: Chart,
    before: range,
    span: Span,
    fields: Sequence[FormField],
    names: Mapping[int, tuple[FormField, bool]],
) -> FormField | None:
    """The field that the nearest of the words before a value means: by its name, or as the first or last of two.

    Returns None if no word means a field.
    """
    for at in before:
        item, is_small = names.get(at, (None, False))
        if item is not None and (not is_small or at == span.start - 1):
            return item if item in fields else None
        matches = (chart.match_longest(name, at) for name in _SIDES)
        side = next((side for side, match in enumerate(matches) if match and match.end <= span.start), None)
        if side is not None:
            return fields[side]
    return None


def _find_related_options(understanding: Understanding, form: OpenForm) -> dict[int, FormField]:
    """The options that two fields have, and the field that a word before says: "leaving Bath, arriving in York"."""
    related: dict[int, FormField] = {}
    options = [span for span in understanding.spans if span.sort is Sort.OPTION and not span.is_weak]
    for span in options:
        takers = [form.field(other.field) for other in options if (other.start, other.end) == (span.start, span.end)]
        fields = [item for item in takers if item is not None]
        if len(fields) == len(_SIDES):
            item = _find_related(understanding.chart, _list_before(understanding, span, options), span, fields)
            related |= {id(span): item} if item else {}
    return related


def _find_related(chart: Chart, before: range, span: Span, fields: Sequence[FormField]) -> FormField | None:
    """The field that the nearest word of relation before an option means. Returns None if no word means only one."""
    for at in before:
        relations = {str(match.value) for match in chart.match("relation", at) if match.end <= span.start}
        owners = [item for item in fields if relations & list_relations(item, chart.grammar)]
        if len(owners) == 1:
            return owners[0]
    return None
