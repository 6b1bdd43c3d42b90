"""Schemas as tools write them, with each property written out: references, null as a choice, options with titles.

The parts behind `then` and `else` add their properties; what they require depends on the values (`list_required`), and
so does who is asked for what they name (`list_inapplicable`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from convengine.engine.forms.schema_validator import get_validator
from convengine.json_value import Json

#: References inside references are followed so far; a schema that has itself ends there.
_DEPTH = 12
_NULL = {"type": "null"}
#: Keys that list schemas. One of these schemas holds.
_ALTERNATIVES = ("anyOf", "oneOf")
_PARTS = ("then", "else")


@dataclass(frozen=True)
class _Document:
    root: Mapping[str, Json]
    #: What plain references lead to, by reference and depth: a wide schema that has itself is written out once.
    written: dict[tuple[str, int], Mapping[str, Json]] = field(default_factory=dict)


@dataclass(frozen=True)
class Dependency:
    """A field that is asked for only by the value of another one."""

    field: str
    decider: str
    condition: Mapping[str, Json]
    #: It is asked for where the condition holds, else where it does not.
    holds: bool

    def allows(self, value: Json) -> bool:
        """True for a value of the deciding field with which the other one is asked for."""
        return get_validator(self.condition).is_valid({self.decider: value}) is self.holds


def write_out(schema: Json) -> Json:
    """The schema without references and choices that only say what one property is."""
    return _write_out(schema, _Document(schema), _DEPTH) if isinstance(schema, Mapping) else schema


def list_required(schema: Mapping[str, Json], values: Mapping[str, Json]) -> Iterator[str]:
    """The names of required properties, also of those that are required because of other values."""
    yield from _list_names(schema.get("required"))
    dependent = schema.get("dependentRequired")
    for name, names in dependent.items() if isinstance(dependent, Mapping) else ():
        if values.get(name) is not None:
            yield from _list_names(names)
    for rule in _list_rules(schema):
        part = _find_part(rule, values)
        if isinstance(part, Mapping):
            yield from _list_names(part.get("required"))


def list_required_by_parts(schema: Mapping[str, Json]) -> Iterator[str]:
    """The names of properties that are required where a part behind `then` or `else` holds."""
    for part in _list_parts(schema):
        yield from _list_names(part.get("required"))


def list_inapplicable(schema: Mapping[str, Json], values: Mapping[str, Json]) -> frozenset[str]:
    """The dependent fields whose condition is not met by the values. The form does not ask for them."""
    holding = (_find_part(rule, values) for rule in _list_rules(schema))
    applicable = {name for part in holding if isinstance(part, Mapping) for name in _list_dependent(part)}
    return frozenset(name for part in _list_parts(schema) for name in _list_dependent(part)) - applicable


def list_dependencies(schema: Mapping[str, Json]) -> Iterator[Dependency]:
    """Which fields are asked for by the value of one other field."""
    for rule in _list_rules(schema):
        properties = rule["if"].get("properties")
        if isinstance(properties, Mapping) and len(properties) == 1:
            for key in _PARTS:
                part = rule.get(key)
                for name in _list_dependent(part) if isinstance(part, Mapping) else ():
                    yield Dependency(name, next(iter(properties)), rule["if"], holds=key == "then")


def sort_declared(properties: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    """The properties in the order of the form: `x-order`, else their position."""
    declared = {name: part if isinstance(part, Mapping) else {} for name, part in properties.items()}
    ranks: dict[str, float] = {}
    for number, (name, part) in enumerate(declared.items()):
        order = part.get("x-order")
        ranks[name] = order if isinstance(order, (int, float)) and not isinstance(order, bool) else number
    return sorted(declared.items(), key=lambda item: ranks[item[0]])


def find_broken_reference(schema: Json) -> str | None:
    """A reference of a written-out schema that leads nowhere, or to another document. Returns None if it has none."""
    if isinstance(schema, Mapping):
        reference = schema.get("$ref")
        inner = [value for key, value in schema.items() if key != "$defs"]
        return reference if isinstance(reference, str) else next(filter(None, map(find_broken_reference, inner)), None)
    return next(filter(None, map(find_broken_reference, schema)), None) if isinstance(schema, list) else None


def _write_reference(node: Mapping[str, Json], document: _Document, depth: int) -> Mapping[str, Json] | None:
    """What a reference leads to, written out. Returns None for a node without one, and if it leads nowhere."""
    reference = node.get("$ref")
    if not isinstance(reference, str) or not depth:
        return None
    if len(node) == 1 and (known := document.written.get((reference, depth))):
        return known
    target = _follow(document.root, reference)
    if not isinstance(target, Mapping):
        return None
    rest = {key: value for key, value in node.items() if key != "$ref"}
    written = _write_out({**target, **rest}, document, depth - 1)
    if not rest:
        document.written[reference, depth] = written
    return written


def _write_out(node: Mapping[str, Json], document: _Document, depth: int) -> Mapping[str, Json]:
    """A part of the document, written out `depth` levels down; what is deeper stays as it is."""
    if (target := _write_reference(node, document, depth)) is not None:
        return target
    written = dict(node)
    for key in (*_ALTERNATIVES, "allOf"):
        if isinstance(node.get(key), list):
            written = _join_branches(written, key, document, depth)
    if isinstance(written.get("properties"), Mapping):
        written["properties"] = {
            name: _write_out(part, document, depth - 1) if isinstance(part, Mapping) and depth else part
            for name, part in _join_properties(written).items()
        }
    items = written.get("items")
    if isinstance(items, Mapping) and depth:
        written["items"] = _write_out(items, document, depth - 1)
    return written


def _join_properties(node: Mapping[str, Json]) -> dict[str, Json]:
    """The properties of a schema and of its parts. The first one of a name counts."""
    every: dict[str, Json] = {}
    for part in (node, *_list_parts(node)):
        more = part.get("properties")
        if isinstance(more, Mapping):
            every |= {name: added for name, added in more.items() if name not in every}
    return every


def _join_branches(node: dict[str, Json], key: str, document: _Document, depth: int) -> dict[str, Json]:
    """Replace alternatives by their only branch that is not null, or by options if all branches are constants.

    Unchanged if neither holds. Of `allOf`, only a single branch is taken in.
    """
    rest = {name: value for name, value in node.items() if name != key}
    branches = [
        _write_out(branch, document, depth - 1) if isinstance(branch, Mapping) and depth else branch
        for branch in node[key]
    ]
    named = [branch for branch in branches if branch != _NULL]
    if len(named) == 1 and isinstance(named[0], Mapping):
        return {**named[0], **rest}
    if key in _ALTERNATIVES and named and all(isinstance(branch, Mapping) and "const" in branch for branch in named):
        options = [{"value": branch["const"], "label": str(branch.get("title") or branch["const"])} for branch in named]
        return {"x-options": options, "enum": [option["value"] for option in options], **rest}
    return node


def _follow(root: Mapping[str, Json], reference: str) -> Json:
    """Find the part of the document that a reference names. Returns None if the document has no such part."""
    if not reference.startswith("#"):
        return None
    part: Json = root
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        part = part.get(name) if isinstance(part, Mapping) else None
    return part


def _list_rules(schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    """The schema itself and those of `allOf` that depend on values."""
    every = schema.get("allOf")
    for rule in (schema, *(every if isinstance(every, list) else ())):
        if isinstance(rule, Mapping) and isinstance(rule.get("if"), Mapping):
            yield rule


def _list_parts(schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    for rule in _list_rules(schema):
        yield from (part for name in _PARTS if isinstance(part := rule.get(name), Mapping))


def _find_part(rule: Mapping[str, Json], values: Mapping[str, Json]) -> Json:
    """What holds by the values. Returns None while one of those that decide is missing."""
    condition = rule["if"]
    properties = condition.get("properties")
    if any(values.get(name) is None for name in (properties if isinstance(properties, Mapping) else ())):
        return None
    return rule.get("then" if get_validator(condition).is_valid(dict(values)) else "else")


def _list_dependent(part: Mapping[str, Json]) -> Iterator[str]:
    """The fields that a part requires, or names by `true` in its properties; other declarations only limit values."""
    yield from _list_names(part.get("required"))
    properties = part.get("properties")
    yield from (
        name for name, declared in (properties.items() if isinstance(properties, Mapping) else ()) if declared is True
    )


def _list_names(listed: Json) -> Iterator[str]:
    yield from (name for name in (listed if isinstance(listed, list) else ()) if isinstance(name, str))
