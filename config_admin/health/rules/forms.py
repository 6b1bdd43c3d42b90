"""The possible forms of a turn, the values that their schemas suggest, and complete or incomplete contexts."""

from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain
from typing import Any

from config_admin.health.rules import phases
from config_admin.health.rules.claims import NOTHING, FactPath
from config_admin.health.texts.predicate import FITS_CASE, TextPredicate, find_text
from config_admin.validation import relations
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.session_form import find_schema
from convengine.engine.rules.json_path.values import is_number
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.snapshot import Snapshot

Json = Any
#: Maximum other forms of the intent, and fields to leave out one by one.
_OTHERS, _LACKING = 2, 4


def list_forms(
    snapshot: Snapshot, phase: RulePhase, intent: str, state: str, others: bool
) -> Iterator[rows.OutputSchema | None]:
    """The form of a turn: that of its intent and state.

    With `others` also those of the intent's other states: a rule may have moved the state since data were collected.
    """
    if not phases.knows_form(phase):
        yield None
        return
    first = _usable(snapshot, find_schema(snapshot, intent, state))
    yield first
    if others and phase != RulePhase.POST_SCHEMA_EXTRACTION:
        of_intent = relations.find_rows_of_intent(snapshot, rows.OutputSchema, intent)
        yield from [row for row in of_intent if row is not first and _usable(snapshot, row)][:_OTHERS]


def find_usable_form(snapshot: Snapshot, intent: str, state: str) -> rows.OutputSchema | None:
    """The form of earlier turns, if this one has not reached collecting."""
    return _usable(snapshot, find_schema(snapshot, intent, state))


def _usable(snapshot: Snapshot, row: rows.OutputSchema | None) -> rows.OutputSchema | None:
    return row if row is not None and get_form(snapshot, row).problem is None else None


def get_field(snapshot: Snapshot, schema: rows.OutputSchema | None, path: FactPath) -> Field | None:
    """The field of the form at a path of the context."""
    if schema is None or path[0] != "context":
        return None
    dotted = ".".join(str(key) for key in path[1:])
    return get_form(snapshot, schema).field(dotted)


def is_possible_value(snapshot: Snapshot, schema: rows.OutputSchema | None, path: FactPath, value: Json) -> bool:
    """Whether its field accepts a value; other paths accept anything."""
    own = get_field(snapshot, schema, path)
    if own is None or schema is None or value is None:
        return True
    memo = snapshot.table(rows.OutputSchema).memo
    key = ("health breaks", schema.schema_id, path, repr(value))
    return memo.get(key, partial(_find_fault, get_form(snapshot, schema), own, value)) is None


def _find_fault(form: Form, own: Field, value: Json) -> str | None:
    return form.breaks(own, value)


def complete_assignments(
    snapshot: Snapshot, schema: rows.OutputSchema | None, assigned: Mapping[FactPath, Json]
) -> Iterator[Mapping[FactPath, Json]]:
    """The assignment as it is, with the form complete, and with one field missing."""
    yield assigned
    if schema is None:
        return
    form = get_form(snapshot, schema)
    taken = {path[1] for path in assigned if path[0] == "context" and len(path) > 1}
    filled: dict[FactPath, Json] = {}
    for own in form.fields:
        if own.path not in taken and (value := _sample(form, own)) is not NOTHING:
            filled["context", own.path] = value
    yield {**filled, **assigned}
    required = [path for path in filled if (own_field := form.field(str(path[1]))) and own_field.required]
    for left_out in required[:_LACKING]:
        yield {**{path: value for path, value in filled.items() if path != left_out}, **assigned}


def _sample(form: Form, own: Field) -> Json:
    return next((value for value in list_schema_values(own.declared) if form.breaks(own, value) is None), NOTHING)


_FORMATS = {
    "email": ("ann@example.com",),
    "date": ("2026-05-04", "2026-06-15"),
    "date-time": ("2026-05-04T10:30:00Z", "2026-06-15T10:30:00Z"),
    "uri": ("https://example.com/a",),
    "uuid": ("3f2b8c1e-9f4a-4d6b-8a27-5c1d0e9f7a3b",),
    "phone": ("+4930123456",),
}


def list_schema_values(schema: Mapping[str, Json] | None) -> Iterator[Json]:
    """Values that the schema of a field suggests; the validator decides whether they are valid."""
    if not schema:
        return
    yield from _listed_values(schema)
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from _list_typed_values(kind, schema)


def _listed_values(schema: Mapping[str, Json]) -> list[Json]:
    listed = schema.get("enum")
    values = list(listed) if isinstance(listed, list) else [schema["const"]] if "const" in schema else []
    examples = schema.get("examples")
    return [
        *values,
        *(examples if isinstance(examples, list) else ()),
        *([schema["default"]] if "default" in schema else ()),
    ]


def _list_typed_values(kind: Json, schema: Mapping[str, Json]) -> Iterator[Json]:
    if kind in ("integer", "number"):
        bounds = [schema.get(name) for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")]
        multiple = schema.get("multipleOf")
        step = multiple if is_number(multiple) else 1
        known = [bound for bound in bounds if is_number(bound)]
        yield from chain.from_iterable((bound, bound + step, bound - step) for bound in known)
        yield from (step, 10, 100)
    elif kind == "boolean":
        yield from (True, False)
    elif kind == "array":
        inner = schema.get("items")
        items = list(list_schema_values(inner if isinstance(inner, Mapping) else {"type": "string"}))
        yield from ([item] * max(int(schema.get("minItems") or 1), 1) for item in items)
    elif kind == "object":
        properties = schema.get("properties")
        yield sample_object(properties if isinstance(properties, Mapping) else {})
    elif kind in ("string", None):
        yield from _list_strings(schema)


def _list_strings(schema: Mapping[str, Json]) -> Iterator[str]:
    yield from _FORMATS.get(str(schema.get("format")), ())
    if isinstance(pattern := schema.get("pattern"), str) and (text := _find_matching_text(pattern)) is not None:
        yield text
    shortest = schema.get("minLength")
    yield "a" * max(shortest if isinstance(shortest, int) else 1, 4)
    yield "a" * max(shortest if isinstance(shortest, int) else 1, 1)


def make_pattern_predicate(pattern: str) -> TextPredicate:
    """A text that matches a schema's pattern."""
    return TextPredicate(FITS_CASE, f"(?s).*(?:{pattern}).*")


@lru_cache(maxsize=1024)
def _find_matching_text(pattern: str) -> str | None:
    text = find_text([make_pattern_predicate(pattern)])
    return text.text if text else None


def sample_object(properties: Mapping[str, Json]) -> dict[str, Json]:
    """An object with a value for each property."""
    sample = {}
    for name, inner in properties.items():
        value = next(list_schema_values(inner if isinstance(inner, Mapping) else {}), NOTHING)
        if value is not NOTHING:
            sample[name] = value
    return sample
