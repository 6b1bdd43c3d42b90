"""The first and the last of two values: "from Friday to Sunday", "leaving on the 4th, back on the 9th"."""

from collections.abc import Mapping, Sequence

from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.labels import Label, get_own_stems, list_relations
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Sort, Span, list_paired_sorts
from convengine.engine.understanding.stems import get_stemmer_name, stem
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

#: The classes of words before the first and before the last value.
_SIDES = ("first_of_two", "last_of_two")


def find_sides(understanding: Understanding, form: OpenForm) -> dict[int, Label]:
    """The field of each value, by identity, that is the first or the last of two, like a name of it before the value.

    The words before a value say it.
    """
    sides: dict[int, Label] = {}
    stemmer = get_stemmer_name(understanding.chart.grammar)
    names = get_own_stems(form.fields, understanding.chart.grammar)
    named = {
        at: names.get(stem(word.key, stemmer)) for at, word in enumerate(understanding.words) if not word.is_mended
    }
    for sort in list_paired_sorts([item.spec for item in form.fields]) if holds(Principle.SIDES) else ():
        fields = [item for item in form.fields if sort in item.sorts]
        spans = [span for span in understanding.spans if span.sort is sort]
        for span in spans:
            if (item := _find_side(understanding, span, spans, fields, named)) is not None:
                sides[id(span)] = Label(item.path, span.start, span.start, is_whole=False)
    return sides | (_find_related_options(understanding, form) if holds(Principle.SIDES) else {})


def _find_related_options(understanding: Understanding, form: OpenForm) -> dict[int, Label]:
    """The options that two fields have, and the field that a word before says: "leaving Bath, arriving in York"."""
    chart, related = understanding.chart, dict[int, Label]()
    options = [span for span in understanding.spans if span.sort is Sort.OPTION and not span.is_weak]
    ends, since = sorted({span.end for span in options}), dict[int, int]()
    for span in options:
        since[span.start] = max((end for end in ends if end <= span.start), default=0)
    for span in options:
        fields = [form.field(other.field) for other in options if (other.start, other.end) == (span.start, span.end)]
        relations = {item.path: list_relations(item, chart.grammar) for item in fields if item is not None}
        for at in range(span.start - 1, since[span.start] - 1, -1) if len(relations) == 2 else ():
            said = {str(match.value) for match in chart.match("relation", at) if match.end <= span.start}
            owners = [path for path, own in relations.items() if own & said]
            if len(owners) == 1:
                related |= {id(span): Label(owners[0], span.start, span.start, is_whole=False)}
                break
    return related


def _find_side(
    understanding: Understanding,
    span: Span,
    spans: Sequence[Span],
    fields: Sequence[FormField],
    named: Mapping[int, FormField | None],
) -> FormField | None:
    """The field that the nearest word between the value before and this one means: by its name, or as first or last.

    Returns None if there is none.
    """
    chart = understanding.chart
    small, limits = cover(understanding.cues), cover(cue for cue in understanding.cues if cue.name == "limit")
    since = max((other.end for other in spans if other.end <= span.start), default=0)
    begins = max((start for start in understanding.begins if start <= span.start), default=0)
    for at in range(span.start - 1, max(since, begins) - 1, -1):
        # The "to" of "I want to stay until Friday" names no field, and that of "to Friday" may.
        if (item := named.get(at)) is not None and (at not in small or (at == span.start - 1 and at not in limits)):
            return item if item in fields else None
        for side, name in enumerate(_SIDES):
            match = chart.match_longest(name, at)
            if match is not None and match.end <= span.start:
                return fields[side]
    return None
