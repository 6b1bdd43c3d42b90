"""Map an HTTP response to the tool's result (pipeline-2 4.8)."""

from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.rules.json_path import PathError, compile_path
from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.turn.codec import loads, to_strict
from convengine.engine.turn.enums import MappingMode

Json = Any
Mappers = Mapping[str, Callable[[Json], Json]]


def map_response(body: bytes, mode: str, mapping: Mapping[str, Json], mappers: Mappers) -> Json:
    """The result. Raises ToolFault MAPPING_FAILED; a path without a match gives null."""
    text = body.decode("utf-8", "replace")
    how = MappingMode.read(mode) or MappingMode.RAW_JSON
    if how == MappingMode.TEXT:
        return text
    document = _document(text)
    if how == MappingMode.JSON_PATH and str(mapping.get("jsonPath") or "").strip():
        return _at(document, mapping["jsonPath"])
    if how == MappingMode.FIELD_TEMPLATE:
        paths = mapping.get("fieldPaths")
        return {name: _at(document, path) for name, path in paths.items()} if isinstance(paths, Mapping) else document
    return _by_mapper(document, mapping.get("mapper"), mappers) if how == MappingMode.MAPPER_CLASS else document


def _document(text: str) -> Json:
    if not text.strip():
        return {}
    try:
        return loads(text)
    except ValueError:
        return {"text": text}


def _at(document: Json, path: Json) -> Json:
    try:
        return compile_path(str(path)).first(document)[1]
    except PathError as error:
        raise ToolFault("MAPPING_FAILED", f"The path {path} cannot be read: {error.reason}.") from error


def _by_mapper(document: Json, name: Json, mappers: Mappers) -> Json:
    mapper = mappers.get(str(name))
    if mapper is None:
        known = ", ".join(sorted(mappers)) or "none"
        raise ToolFault("MAPPING_FAILED", f"There is no registered mapper {name}. Registered: {known}.")
    try:
        return to_strict(mapper(document))
    except Exception as error:
        raise ToolFault("MAPPING_FAILED", f"The mapper {name} failed: {type(error).__name__}: {error}") from error
