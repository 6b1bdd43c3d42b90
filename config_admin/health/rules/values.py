"""Values to try for what conditions read: those that they name and their neighbours, and those of a form's schema."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, pairwise, product
from typing import Any

from config_admin.health.rules.mentions import ELEMENT, FactPath, Mention
from config_admin.health.texts.predicate import FITS_CASE, TextPredicate, find_text
from convengine.engine.forms.form import Form
from convengine.engine.rules.conditions.values import is_number
from convengine.json_value import Json


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


#: Stands for a missing value, which is not the same as null.
NOTHING: Any = _Nothing()
#: Values for any path.
_USUAL: tuple[Json, ...] = (NOTHING, "text", 1, True, False, None, "", 0, [], {}, ["text"], {"name": "text"})
#: Maximum values of one path, and of an inner one, and sizes of lists.
_MOST, _MOST_INNER, _LONGEST = 60, 8, 50


@dataclass
class _Node:
    """What is mentioned at one path, and below it."""

    values: list[Json] = field(default_factory=list)
    texts: list[TextPredicate] = field(default_factory=list)
    sizes: set[int] = field(default_factory=set)
    below: dict[str, "_Node"] = field(default_factory=dict)
    is_read: bool = False

    def list_values(self, declared: Mapping[str, Json] | None = None) -> list[Json]:
        """Values to try, likely ones first."""
        numbers = sorted({value for value in self.values if is_number(value)})
        midpoints = ((lower + upper) / 2 for lower, upper in pairwise(numbers))
        values = chain(self._list_texts(declared), self.values, midpoints, self._list_nested(), self._list_sized())
        return _drop_repeated(values)

    def _list_texts(self, declared: Mapping[str, Json] | None) -> Iterator[Json]:
        """Texts that fulfil the text conditions together or one by one; short digits also as a number.

        `declared`: the schema of the field, whose pattern the first text fulfils too; None if there is none.
        """
        if not self.texts:
            return
        pattern = (declared or {}).get("pattern")
        more = [make_pattern_predicate(pattern)] if isinstance(pattern, str) else []
        together = find_text([*self.texts, *more])
        samples = (sample for predicate in self.texts for sample in predicate.samples)
        for text in (*([together.text] if together else ()), *samples):
            yield text
            if text.isdecimal() and len(text) < 16:
                yield int(text)

    def _list_nested(self) -> Iterator[Json]:
        """Objects and lists with the values mentioned below."""
        names = [name for name in self.below if name != ELEMENT]
        inner = [[*self.below[name].list_values()[:_MOST_INNER], "text", 1, NOTHING] for name in names]
        for chosen in islice(order_combinations(inner), _MOST) if names else ():
            yield {name: value for name, value in zip(names, chosen, strict=True) if value is not NOTHING}
        if ELEMENT in self.below:
            elements = [*self.below[ELEMENT].list_values()[:_MOST_INNER], "text"]
            yield from ([element] for element in elements)
            yield from (list(pair) for pair in product(elements, repeat=2))
            yield from ([element] * size for size in sorted(self.sizes) if 2 < size <= _LONGEST for element in elements)
            yield from elements

    def _list_sized(self) -> Iterator[Json]:
        """Texts and lists of the compared sizes, and of one more and one less."""
        lists = [value for value in self.values if isinstance(value, list) and value]
        for size in sorted({each + more for each in self.sizes for more in (0, 1, -1)}):
            if 0 <= size <= _LONGEST:
                yield from (["text"] * size, "a" * size)
                yield from ((each * (size + 1))[:size] for each in lists)
        # One list that contains everything.
        yield from ([member for each in lists for member in each] for _ in lists[1:2])


def _drop_repeated(values: Iterable[Json]) -> list[Json]:
    """The values without repetitions; at most `_MOST`. A number and its text are two values."""
    distinct: dict[str, Json] = {}
    for value in values:
        distinct.setdefault(f"{type(value).__name__} {value!r}", value)
        if len(distinct) >= _MOST:
            break
    return list(distinct.values())


def list_candidates(mentions: Sequence[Mention], form: Form | None) -> dict[FactPath, list[Json]]:
    """The paths that a turn can be given values at, each with values to try. Fields get no value that they refuse."""
    root = _Node()
    for mention in mentions:
        node = _find_node(root, mention.path)
        node.is_read = True
        node.values += mention.values
        node.sizes.update(mention.sizes)
        if mention.text is not None:
            node.texts.append(mention.text)
    for mention in mentions:
        if mention.like is not None:
            node, other = _find_node(root, mention.path), _find_node(root, mention.like)
            other.is_read = True
            node.values, other.values = [*node.values, *other.values, 1, 2], [*other.values, *node.values, 1, 2]
    return {path: _list_values_at(path, node, form) for path, node in _list_variables(root, ())}


def _find_node(root: _Node, path: FactPath) -> _Node:
    for key in path:
        root = root.below.setdefault(key, _Node())
    return root


def _list_variables(node: _Node, path: FactPath) -> Iterator[tuple[FactPath, _Node]]:
    may_be_one = len(path) > 1 or (path and path[0] not in ("context", "inputParams"))
    if may_be_one and (node.is_read or ELEMENT in node.below):
        yield path, node
        return
    for name, below in node.below.items():
        yield from _list_variables(below, (*path, name))


def _list_values_at(path: FactPath, node: _Node, form: Form | None) -> list[Json]:
    """Values to try for a fact; a field of the form gets only values that it accepts."""
    own = form.field(".".join(path[1:])) if form is not None and path[0] == "context" else None
    if own is None or form is None:
        return _drop_repeated([*node.list_values(), *_USUAL])
    values = _drop_repeated([*node.list_values(own.declared), *list_schema_values(own.declared), *_USUAL])
    return [value for value in values if value is NOTHING or value is None or form.breaks(own, value) is None]


def order_combinations(choices: Sequence[Sequence[Json]]) -> Iterator[tuple[Json, ...]]:
    """One of each, those with early choices first."""
    for total in range(sum(len(each) - 1 for each in choices) + 1):
        yield from _choose_with_total(choices, total)


def _choose_with_total(choices: Sequence[Sequence[Json]], total: int) -> Iterator[tuple[Json, ...]]:
    """One value of each list, so that the indexes of the values add up to the total."""
    if not choices:
        if total == 0:
            yield ()
        return
    first, rest = choices[0], choices[1:]
    most_of_rest = sum(len(each) - 1 for each in rest)
    for index in range(max(0, total - most_of_rest), min(total + 1, len(first))):
        yield from ((first[index], *others) for others in _choose_with_total(rest, total - index))


# --- the values of a form ---------------------------------------------------------------------------------------

_FORMATS = {
    "email": ("ann@example.com",),
    "date": ("2026-05-04", "2026-06-15"),
    "date-time": ("2026-05-04T10:30:00Z", "2026-06-15T10:30:00Z"),
    "uri": ("https://example.com/a",),
    "uuid": ("3f2b8c1e-9f4a-4d6b-8a27-5c1d0e9f7a3b",),
    "phone": ("+4930123456",),
}


def list_schema_values(schema: Mapping[str, Json]) -> Iterator[Json]:
    """Values that the schema of a field suggests; the validator decides whether they are valid."""
    listed, examples, kinds = schema.get("enum"), schema.get("examples"), schema.get("type")
    yield from listed if isinstance(listed, list) else ()
    yield from (schema[name] for name in ("const", "default") if name in schema)
    yield from examples if isinstance(examples, list) else ()
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from _list_typed_values(kind, schema)


def _list_typed_values(kind: Json, schema: Mapping[str, Json]) -> Iterator[Json]:
    """Values of one type of a JSON Schema; none for a type that is not known."""
    match kind:
        case "integer" | "number":
            yield from _list_numbers(schema)
        case "boolean":
            yield from (True, False)
        case "array":
            inner = schema.get("items")
            items = list_schema_values(inner if isinstance(inner, Mapping) else {"type": "string"})
            yield from ([item] * max(int(schema.get("minItems") or 1), 1) for item in items)
        case "object":
            properties = schema.get("properties")
            schemas = properties if isinstance(properties, Mapping) else {}
            declared = {name: each if isinstance(each, Mapping) else {} for name, each in schemas.items()}
            values = {name: next(list_schema_values(each), NOTHING) for name, each in declared.items()}
            yield {name: value for name, value in values.items() if value is not NOTHING}
        case "string" | None:
            yield from _list_texts(schema)


def _list_numbers(schema: Mapping[str, Json]) -> Iterator[Json]:
    """Numbers at the bounds of a schema and beside them, and usual ones."""
    bounds = (schema.get(name) for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"))
    step = schema["multipleOf"] if is_number(schema.get("multipleOf")) else 1
    for bound in filter(is_number, bounds):
        yield from (bound, bound + step, bound - step)
    yield from (step, 10, 100)


def _list_texts(schema: Mapping[str, Json]) -> Iterator[Json]:
    yield from _FORMATS.get(str(schema.get("format")), ())
    if isinstance(pattern := schema.get("pattern"), str) and (text := _find_matching_text(pattern)) is not None:
        yield text
    shortest = schema.get("minLength")
    yield from ("a" * max(shortest if isinstance(shortest, int) else 1, size) for size in (4, 1))


def make_pattern_predicate(pattern: str) -> TextPredicate:
    """A text that matches a schema's pattern."""
    return TextPredicate(FITS_CASE, f"(?s).*(?:{pattern}).*")


@lru_cache(maxsize=1024)
def _find_matching_text(pattern: str) -> str | None:
    text = find_text([make_pattern_predicate(pattern)])
    return text.text if text else None


def sample_field(form: Form, path: str) -> Json:
    """A value that a field accepts, or NOTHING."""
    own = form.field(path)
    declared = own.declared if own else {}
    return next((value for value in list_schema_values(declared) if own and form.breaks(own, value) is None), NOTHING)
