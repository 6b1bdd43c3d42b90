"""The status of a form: complete, missing, invalid, and options to offer (pipeline-2 5.5).

jsonschema validates single values; this module decides which values are missing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError, validators
from referencing import Registry

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.formats import FORMATS
from convengine.engine.turn.codec import dumps, loads

Json = Any


@dataclass(frozen=True)
class SchemaStatus:
    """The status of a schema for a context."""

    complete: bool
    has_any_value: bool
    #: Dotted paths of required values that are missing or invalid, in schema order.
    missing: tuple[str, ...] = ()
    #: Present values that violate type, enum, pattern, format or limits, with the reason.
    invalid: Mapping[str, str] = field(default_factory=dict)
    #: For each missing field with an enum, its values.
    options: Mapping[str, Sequence[Json]] = field(default_factory=dict)


def is_usable(schema: Json) -> bool:
    """True for an object schema with properties; others cannot be collected."""
    return isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping)


def is_meaningful(value: Json) -> bool:
    """True unless null, a blank text, or an empty list or object. 0 and false have meaning."""
    if value is None:
        return False
    if isinstance(value, str):
        return bool(value.strip())
    return bool(value) if isinstance(value, (list, tuple, Mapping)) else True


def evaluate_form(schema: Json, context: Json, validator: Draft202012Validator | None = None) -> SchemaStatus:
    """The status of `schema` for `context`. An unusable schema is never complete.

    `validator` is the schema's own, if cached.
    """
    values = context if isinstance(context, Mapping) else {}
    if not is_usable(schema):
        return SchemaStatus(False, False)
    properties = schema["properties"]
    has_any = any(is_meaningful(values.get(name)) for name in properties)
    absent = list(_list_missing(schema, values, ""))
    invalid = _find_invalid(schema, values, set(absent), validator or get_validator(schema))
    ordered = _sort_by_schema(schema, [*absent, *(path for path in invalid if path not in absent)])
    options = {path: choices for path in ordered if (choices := _find_enum(schema, path))}
    return SchemaStatus(not ordered, has_any, tuple(ordered), invalid, options)


def get_validator(schema: Json) -> Draft202012Validator:
    """A validator for one schema: draft 2020-12, with RE2 patterns so that none can block a turn (law 7)."""
    # The registry is empty, so references to other documents are never fetched.
    validator: Draft202012Validator = _Validator(schema, registry=Registry(), format_checker=_FORMATS)
    return validator


def is_well_formed(schema: Json) -> bool:
    """True for a valid JSON Schema."""
    return isinstance(schema, Mapping) and _is_well_formed_text(dumps(schema))


@lru_cache(maxsize=512)
def _is_well_formed_text(text: str) -> bool:
    """Cached by text, because each turn with a server's tools brings the same schemas."""
    try:
        _Validator.check_schema(loads(text))
    except SchemaError:
        return False
    return True


def describe_fields(schema: Json) -> dict[str, dict[str, Json]]:
    """For each property, what a prompt or a form needs: description, type, enumOptions."""
    if not is_usable(schema):
        return {}
    details: dict[str, dict[str, Json]] = {}
    for name, declared in schema["properties"].items():
        if isinstance(declared, Mapping):
            details[name] = {
                "description": declared.get("description") or declared.get("title") or "",
                "type": declared.get("type"),
                **({"enumOptions": list(declared["enum"])} if isinstance(declared.get("enum"), list) else {}),
            }
    return details


def _list_missing(schema: Mapping[str, Json], value: Mapping[str, Json], prefix: str) -> Iterator[str]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    for name in [*properties, *(name for name in required if name not in properties)]:
        declared = properties.get(name)
        declared = declared if isinstance(declared, Mapping) else {}
        yield from _list_missing_of_field(declared, value.get(name), f"{prefix}{name}", name in required)


def _list_missing_of_field(declared: Mapping[str, Json], value: Json, path: str, required: bool) -> Iterator[str]:
    if value is None or (isinstance(value, str) and not value.strip()):
        if required:
            yield path
        return
    if isinstance(value, Mapping):
        if required or is_meaningful(value):
            yield from _list_missing(declared, value, f"{path}.")
    elif isinstance(value, (list, tuple)):
        if required and not value and declared.get("minItems", 0):
            yield path
        items = declared.get("items")
        if isinstance(items, Mapping) and "properties" in items:
            for index, item in enumerate(value):
                if isinstance(item, Mapping):
                    yield from _list_missing(items, item, f"{path}.{index}.")


def _find_invalid(
    schema: Mapping[str, Json], values: Mapping[str, Json], absent: set[str], validator: Draft202012Validator
) -> dict[str, str]:
    declared = set(schema["properties"])
    present = {name: value for name, value in values.items() if name in declared and value is not None}
    found: dict[str, str] = {}
    for error in validator.iter_errors(present):
        path = ".".join(str(part) for part in error.absolute_path)
        if error.validator == "required" or not path or path in absent:
            continue
        found.setdefault(path, error.message)
    return found


def _sort_by_schema(schema: Mapping[str, Json], paths: list[str]) -> list[str]:
    """In the order of `required`, then of the properties. A JSON column keeps the order of lists only."""
    required = schema.get("required")
    names = [*(required if isinstance(required, list) else ()), *schema["properties"]]
    order = {name: index for index, name in reversed(list(enumerate(names)))}
    return sorted(paths, key=lambda path: order.get(path.split(".")[0], len(order)))


def _find_enum(schema: Mapping[str, Json], path: str) -> list[Json]:
    node: Json = schema
    for part in path.split("."):
        if not isinstance(node, Mapping):
            return []
        node = node.get("items") if part.isdigit() else (node.get("properties") or {}).get(part)
    choices = node.get("enum") if isinstance(node, Mapping) else None
    if not isinstance(choices, list):
        return []
    return [choice if isinstance(choice, str) else json.dumps(choice) for choice in choices if choice is not None]


def _compile_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, str):
        return
    try:
        fits = compile_pattern(pattern, ignore_case=False).occurs_in(instance)
    except PatternError:
        return  # The editor reports it on save; a pattern that RE2 rejects has no effect.
    if not fits:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _get_format_checker() -> FormatChecker:
    """jsonschema's checks, with ours for the formats that are read out of messages."""
    checker = FormatChecker()
    for name, known in FORMATS.items():
        checker.checks(name)(lambda value, holds=known.holds: not isinstance(value, str) or holds(value))
    return checker


_FORMATS = _get_format_checker()
_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"pattern": _compile_pattern}
)
