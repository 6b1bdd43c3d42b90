"""Values that the schema of a field suggests; the validator decides whether they are valid."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Any

from config_admin.health.rules.claims import NOTHING
from config_admin.health.texts.predicate import FITS_CASE, TextPredicate, find_text
from convengine.engine.rules.json_path.values import is_number

Json = Any
_FORMATS = {
    "email": ("ann@example.com",),
    "date": ("2026-05-04", "2026-06-15"),
    "date-time": ("2026-05-04T10:30:00Z", "2026-06-15T10:30:00Z"),
    "uri": ("https://example.com/a",),
    "uuid": ("3f2b8c1e-9f4a-4d6b-8a27-5c1d0e9f7a3b",),
    "phone": ("+4930123456",),
}


def of_schema(schema: Mapping[str, Json] | None) -> Iterator[Json]:
    """Values that the schema of a field suggests; the validator decides whether they are valid."""
    if not schema:
        return
    yield from _listed_values(schema)
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from _of_type(kind, schema)


def _listed_values(schema: Mapping[str, Json]) -> list[Json]:
    listed = schema.get("enum")
    found = list(listed) if isinstance(listed, list) else [schema["const"]] if "const" in schema else []
    examples = schema.get("examples")
    return [
        *found,
        *(examples if isinstance(examples, list) else ()),
        *([schema["default"]] if "default" in schema else ()),
    ]


def _of_type(kind: Json, schema: Mapping[str, Json]) -> Iterator[Json]:
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
        items = list(of_schema(inner if isinstance(inner, Mapping) else {"type": "string"}))
        yield from ([item] * max(int(schema.get("minItems") or 1), 1) for item in items)
    elif kind == "object":
        properties = schema.get("properties")
        yield sample_object(properties if isinstance(properties, Mapping) else {})
    elif kind in ("string", None):
        yield from _strings(schema)


def _strings(schema: Mapping[str, Json]) -> Iterator[str]:
    yield from _FORMATS.get(str(schema.get("format")), ())
    if isinstance(pattern := schema.get("pattern"), str) and (text := _fitting(pattern)) is not None:
        yield text
    shortest = schema.get("minLength")
    yield "a" * max(shortest if isinstance(shortest, int) else 1, 4)
    yield "a" * max(shortest if isinstance(shortest, int) else 1, 1)


def with_pattern(pattern: str) -> TextPredicate:
    """A text that matches a schema's pattern."""
    return TextPredicate(FITS_CASE, f"(?s).*(?:{pattern}).*")


@lru_cache(maxsize=1024)
def _fitting(pattern: str) -> str | None:
    found = find_text([with_pattern(pattern)])
    return found.text if found else None


def sample_object(properties: Mapping[str, Json]) -> dict[str, Json]:
    """An object with a value for each property."""
    made = {}
    for name, inner in properties.items():
        value = next(of_schema(inner if isinstance(inner, Mapping) else {}), NOTHING)
        if value is not NOTHING:
            made[name] = value
    return made
