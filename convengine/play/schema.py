"""Check the document of a scenario file with scenario.schema.json and the expectations, and describe the error."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from convengine.engine.rules.patterns import PatternError
from convengine.engine.text.compare import shorten
from convengine.engine.text.wording import find_nearest
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json
from convengine.play import matchers
from convengine.play.expectations import EXPECTATIONS


class ScenarioFileError(ValueError):
    """An invalid scenario file: the position in it, and the error."""

    def __init__(self, location: str, problem: str) -> None:
        self.location, self.problem = location, problem
        super().__init__(f"{location}: {problem}" if location else problem)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.location, self.problem)


def describe_unknown(word: Any, words: Iterable[str], what: str) -> str:
    """The error for an unknown word, with the most similar known one."""
    allowed = sorted(words)
    nearest = find_nearest(str(word), allowed)
    return f"unknown {what} `{word}`; " + (f"did you mean `{nearest}`?" if nearest else f"known: {', '.join(allowed)}.")


def shorten_json(value: Any) -> str:
    """A value for a report: shortened JSON."""
    return shorten(dumps(value), 300)


SCHEMA: Json = json.loads(Path(__file__).with_name("scenario.schema.json").read_text("utf-8"))
SCHEMA["$defs"]["expect"]["properties"] = {key: each.schema for key, each in EXPECTATIONS.items()}
_FORMATS = FormatChecker(formats=())
_TYPES = {
    "string": "a text",
    "object": "a map",
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "null": "null",
}


def check(document: Json) -> None:
    """Raises ScenarioFileError with the outermost error of an invalid document."""
    errors = Draft202012Validator(SCHEMA, format_checker=_FORMATS).iter_errors(document)
    fault = min(errors, key=lambda error: len(error.absolute_path), default=None)
    if fault:
        raise _describe_error(fault)


def check_expectations(expect: Json) -> None:
    """Raises ScenarioFileError with the outermost error of invalid expectations."""
    schema = {"$ref": "#/$defs/expect", "$defs": SCHEMA["$defs"]}
    errors = Draft202012Validator(schema, format_checker=_FORMATS).iter_errors(expect)
    fault = min(errors, key=lambda error: len(error.absolute_path), default=None)
    if fault:
        raise _describe_error(fault)


def address(path: Sequence[str | int]) -> str:
    """A path in a document, such as `turns[0].expect.context['$.a']`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif key.replace("_", "").isalnum():
            text += f".{key}" if text else key
        else:
            text += f"['{key}']"
    return text


@_FORMATS.checks("scenario-path", raises=matchers.MatcherPathError)
def _is_path(value: Json) -> bool:
    return not isinstance(value, str) or matchers.split_path(value) is not None


@_FORMATS.checks("re2", raises=PatternError)
def _is_pattern(value: Json) -> bool:
    return not isinstance(value, str) or matchers.compile_pattern_case_sensitive(value) is not None


def _describe_error(error: ValidationError) -> ScenarioFileError:
    """The error of a document in words, with its position and, where there is one, the remedy."""
    path = [*error.absolute_path]
    schema: Json = error.schema
    expected: Json = error.validator_value
    value: Json = error.instance
    remedy = schema.get("errorMessage", "") if isinstance(schema, dict) else ""
    noun = str(path[-1]) if path else "key"
    if "propertyNames" in error.absolute_schema_path:
        path.append(value)
        noun = "key"
    match error.validator:
        case "additionalProperties":
            name = next(key for key in value if key not in schema["properties"])
            path.append(name)
            problem = f"{describe_unknown(name, schema['properties'], 'key')} {remedy}".rstrip()
        case _ if remedy:
            problem = remedy
        case "required":
            name = next(key for key in expected if key not in value)
            problem = f"the key `{name}` is missing."
        case "enum":
            problem = describe_unknown(value, expected, noun)
        case "type" | "minimum":
            problem = f"must be {_describe_type(schema)}, not {shorten_json(value)}."
        case "oneOf" | "anyOf":
            # Here always a choice of keys.
            names = ", ".join(f"`{key}`" for choice in expected for key in choice["required"])
            problem = f"needs {'exactly' if error.validator == 'oneOf' else 'at least'} one of {names}."
        case "minItems":
            problem = "must not be empty."
        case "format":
            problem = str(error.cause)
        case _:
            problem = error.message
    return ScenarioFileError(address(path), problem)


def _describe_type(schema: Json) -> str:
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    least = f" of at least {schema['minimum']}" if "minimum" in schema else ""
    return " or ".join(_TYPES[name] + (least if name == "integer" else "") for name in names)
