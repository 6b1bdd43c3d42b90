"""The arguments of a tool: which schema describes them, made to fit it, what is wrong with them (pipeline-2 4.7)."""

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import excerpt
from convengine.schemas.status import validator_of

Json = Any
INVALID_ARGS = "INVALID_ARGS"
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?")
_WORDS = {"true": True, "false": False}


def schema_of(snapshot: Snapshot, tool: rows.Tool) -> Json:
    """The JSON Schema of a tool's arguments, wherever it is kept; null when nobody described them (R70)."""
    found = snapshot.row(rows.DbTool, tool.tool_id) or snapshot.row(rows.HttpTool, tool.tool_id)
    schema = found.param_schema if found else tool.input_schema
    return schema if isinstance(schema, Mapping) else None


def checked(schema: Json, args: Mapping[str, Json], also: frozenset[str] = frozenset()) -> tuple[Json, list[str]]:
    """The arguments with defaults and texts read as what the schema wants, and a sentence for each fault.

    A name that the schema does not know is a fault, unless the schema says `additionalProperties` itself or has no
    properties at all; `also` are names that are known beside it. Without a schema everything is as it was given.
    """
    if not isinstance(schema, Mapping):
        return dict(args), []
    filled = _object(schema, args)
    known = schema.get("properties")
    problems: list[str] = []
    if isinstance(known, Mapping) and known and "additionalProperties" not in schema:
        unknown = sorted(filled.keys() - known.keys() - also)
        problems = [f"{name} is not an argument; known: {', '.join(known)}." for name in unknown]
    judged = {name: value for name, value in filled.items() if name not in also or name in (known or {})}
    return filled, [*problems, *_faults(schema, judged)]


def _faults(schema: Mapping[str, Json], args: Mapping[str, Json]) -> Iterator[str]:
    try:
        found = list(validator_of(schema).iter_errors(args))
    except Exception as error:
        # The editor is told at save; whatever an old row holds, the tool is not called with arguments nobody judged.
        yield excerpt(f"The schema of the arguments cannot be used: {error}", 300)
        return
    for fault in found:
        at = ".".join(str(part) for part in fault.absolute_path)
        yield excerpt(f"{at}: {fault.message}" if at else fault.message, 300)


def _object(schema: Mapping[str, Json], value: Mapping[str, Json]) -> dict[str, Json]:
    declared = schema.get("properties")
    properties = declared if isinstance(declared, Mapping) else {}
    filled = {name: _fitted(properties.get(name), item) for name, item in value.items()}
    for name, wanted in properties.items():
        if name not in filled and isinstance(wanted, Mapping) and "default" in wanted:
            filled[name] = deepcopy(wanted["default"])
    return filled


def _fitted(schema: Json, value: Json) -> Json:
    """The value as its schema wants it, where that is beyond doubt; else as it was."""
    if not isinstance(schema, Mapping):
        return value
    declared = schema.get("type")
    types = declared if isinstance(declared, list) else [declared]
    if isinstance(value, Mapping) and "object" in types:
        return _object(schema, value)
    if isinstance(value, (list, tuple)) and "array" in types:
        return [_fitted(schema.get("items"), item) for item in value]
    if isinstance(value, str) and "string" not in types:
        return _read(types, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and types == ["string"]:
        return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
    return value


def _read(types: list[Json], text: str) -> Json:
    word = text.strip()
    if "integer" in types and _INTEGER.fullmatch(word):
        return int(word)
    if "number" in types and _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    if "boolean" in types and word.lower() in _WORDS:
        return _WORDS[word.lower()]
    return None if "null" in types and not word else text
