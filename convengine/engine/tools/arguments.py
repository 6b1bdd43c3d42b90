"""The arguments of a tool, checked against its schema, with defaults and converted texts; the limit of its result."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy

from convengine.engine.forms.composed_schemas import write_out
from convengine.engine.forms.schema_validator import get_validator
from convengine.engine.text.compare import shorten
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

INVALID_ARGS = "INVALID_ARGS"
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d{1,18}(?:\.\d{1,18})?")
_WORDS = {"true": True, "false": False}
_PREVIEW = 1000


def find_argument_schema(snapshot: Snapshot, tool: rows.Tool) -> Json:
    tool_row = snapshot.row(rows.DbTool, tool.tool_id) or snapshot.row(rows.HttpTool, tool.tool_id)
    schema = tool_row.param_schema if tool_row else tool.input_schema
    return schema if isinstance(schema, Mapping) else None


def check_arguments(
    schema: Json, args: Mapping[str, Json], also: frozenset[str] = frozenset()
) -> tuple[Json, list[str]]:
    """The arguments with defaults and converted texts, and a sentence for each error.

    An unknown name is an error, unless the schema has `additionalProperties` or no properties at all; `also` are
    additional known names. Without a schema, arguments stay unchanged.
    """
    if not isinstance(schema, Mapping):
        return dict(args), []
    written_out = write_out(schema)
    filled = _fit_object(written_out, args)
    known = written_out.get("properties")
    problems: list[str] = []
    if isinstance(known, Mapping) and known and "additionalProperties" not in written_out:
        unknown = sorted(filled.keys() - known.keys() - also)
        problems = [f"{name} is not an argument; known: {', '.join(known)}." for name in unknown]
    judged = {name: value for name, value in filled.items() if name not in also or name in (known or {})}
    return filled, [*problems, *_list_faults(schema, judged)]


def _list_faults(schema: Mapping[str, Json], args: Mapping[str, Json]) -> Iterator[str]:
    try:
        errors = list(get_validator(schema).iter_errors(args))
    except Exception as error:
        # The editor reports it on save. Even with an old row, the tool is not called with unvalidated arguments.
        yield shorten(f"The schema of the arguments cannot be used: {error}", 300)
        return
    for fault in errors:
        at = ".".join(str(part) for part in fault.absolute_path)
        yield shorten(f"{at}: {fault.message}" if at else fault.message, 300)


def _fit_object(schema: Mapping[str, Json], value: Mapping[str, Json]) -> dict[str, Json]:
    declared = schema.get("properties")
    properties = declared if isinstance(declared, Mapping) else {}
    filled = {
        name: _fit_value(properties.get(name), item)
        for name, item in value.items()
        if not _is_left_out(schema, name, item)
    }
    for name, wanted in properties.items():
        if name not in filled and isinstance(wanted, Mapping) and "default" in wanted:
            filled[name] = deepcopy(wanted["default"])
    return filled


def _is_left_out(schema: Mapping[str, Json], name: str, value: Json) -> bool:
    """True for the blank text of an optional argument that is no text: its template had no value to fill in."""
    if not isinstance(value, str) or value.strip():
        return False
    declared, required = schema.get("properties"), schema.get("required")
    wanted = declared.get(name) if isinstance(declared, Mapping) else None
    types = _list_types(wanted) if isinstance(wanted, Mapping) else []
    is_optional = not (isinstance(required, list) and name in required)
    return is_optional and any(types) and not {"string", "null"} & set(types)


def _list_types(schema: Mapping[str, Json]) -> list[Json]:
    declared = schema.get("type")
    return declared if isinstance(declared, list) else [declared]


def _fit_value(schema: Json, value: Json) -> Json:
    """The value converted for its schema if that is unambiguous, else unchanged."""
    if not isinstance(schema, Mapping):
        return value
    types = _list_types(schema)
    if isinstance(value, Mapping) and "object" in types:
        return _fit_object(schema, value)
    if isinstance(value, (list, tuple)) and "array" in types:
        return [_fit_value(schema.get("items"), item) for item in value]
    if isinstance(value, str) and "string" not in types:
        return _parse_text(types, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and types == ["string"]:
        return str(value).removesuffix(".0")
    return value


def _parse_text(types: list[Json], text: str) -> Json:
    word = text.strip()
    if "integer" in types and _INTEGER.fullmatch(word):
        return int(word)
    if "number" in types and _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    if "boolean" in types and word.lower() in _WORDS:
        return _WORDS[word.lower()]
    return _parse_document(types, text) if word else None if "null" in types else text


def _parse_document(types: list[Json], text: str) -> Json:
    """The list or object that a text is, as templates write it; else the text."""
    wanted = tuple(kind for name, kind in (("array", list), ("object", dict)) if name in types)
    with suppress(ValueError):
        value = loads(text) if wanted else None
        return value if isinstance(value, wanted) else text
    return text


def cap_result(result: Json, limit: int) -> Json:
    """The result, or a preview if it is larger than `limit` bytes."""
    text = dumps(result)
    size = len(text.encode())
    return result if size <= limit else {"truncated": True, "bytes": size, "preview": text[:_PREVIEW]}
