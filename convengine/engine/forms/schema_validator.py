"""Validation of values by JSON Schema, draft 2020-12, with our formats and with patterns that cannot block a turn."""

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, SchemaError, ValidationError, validators
from referencing import Registry

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.formats import FORMATS
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.understanding.kinds.clock import is_time
from convengine.engine.understanding.kinds.ibans import check_iban
from convengine.engine.understanding.kinds.lengths import parse_duration
from convengine.json_value import Json

#: For each format of JSON Schema that is stored in a way of ours: is a text in it?
STORED_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "time": is_time,
    "duration": lambda text: bool(parse_duration(text)),
    "iban": lambda text: check_iban(text).is_value,
}


def get_validator(schema: Json) -> Draft202012Validator:
    """A validator for one schema: draft 2020-12, with RE2 patterns so that none can block a turn."""
    # The registry is empty, so references to other documents are never fetched.
    validator: Draft202012Validator = _Validator(schema, registry=Registry(), format_checker=_FORMATS)
    return validator


def is_well_formed(schema: Json) -> bool:
    return isinstance(schema, Mapping) and _is_well_formed_text(dumps(schema))


@lru_cache(maxsize=512)
def _is_well_formed_text(text: str) -> bool:
    """Cached by text, because each turn with a server's tools brings the same schemas."""
    try:
        _Validator.check_schema(loads(text))
    except SchemaError:
        return False
    return True


def _matches(pattern: str, text: str) -> bool | None:
    """True where the pattern occurs in the text. Returns None for a pattern that RE2 rejects: it has no effect."""
    try:
        return compile_pattern(pattern, ignore_case=False).occurs_in(text)
    except PatternError:
        return None  # The editor reports it on save.


def _check_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and _matches(pattern, instance) is False:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Mapping[str, Json], instance: Any, schema: Any
) -> Iterator[ValidationError]:
    for pattern, part in patterns.items() if isinstance(instance, dict) else ():
        for name in filter(partial(_matches, pattern), instance):
            yield from validator.descend(instance[name], part, path=name, schema_path=pattern)


def _check_additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Json]
) -> Iterator[ValidationError]:
    """As jsonschema, without the properties that a pattern names."""
    patterns = schema.get("patternProperties", {})
    if patterns and isinstance(instance, dict):
        schema = {key: value for key, value in schema.items() if key != "patternProperties"}
        instance = {name: item for name, item in instance.items() if not any(_matches(each, name) for each in patterns)}
    yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, instance, schema)


def _check_kind(validator: Any, kind: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """A value of a kind that is stored in a way of ours, such as `HH:MM`."""
    holds = STORED_FORMATS.get(kind) if isinstance(kind, str) else None
    if holds and isinstance(instance, str) and not holds(instance):
        yield ValidationError(f"{instance!r} is not a {kind!r}")


def _get_format_checker() -> FormatChecker:
    """jsonschema's checks, with ours."""
    checker = FormatChecker()
    for name, holds in {**FORMATS, **STORED_FORMATS}.items():
        checker.checks(name)(lambda value, holds=holds: not isinstance(value, str) or holds(value))
    return checker


_FORMATS = _get_format_checker()
_Validator = validators.extend(  # type: ignore[no-untyped-call]
    Draft202012Validator,
    {
        "additionalProperties": _check_additional_properties,
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "x-kind": _check_kind,
    },
)
