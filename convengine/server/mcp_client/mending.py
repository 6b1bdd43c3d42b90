"""Results of tools as servers send them: what the protocol's library would refuse whole is mended, and says so."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from convengine.engine.forms.schema_validator import get_validator
from convengine.engine.turn.codec import dumps
from convengine.json_value import Json

#: Where a mended result carries its warnings, in the part of it that is for programs.
_KEY = "convengine/warnings"
_COMPLETE = "complete"
#: Keys of a result that are not what the tool gave.
_FRAME = ("content", "structuredContent", "isError", "_meta", "resultType")


class McpCallResult(NamedTuple):
    """What a tool gave, and what is wrong with how it was sent."""

    document: dict[str, Json]
    warnings: tuple[str, ...]


class Mender:
    """Mends the messages of one session on their way in."""

    def __init__(self) -> None:
        #: Requests that call a tool, until they are answered.
        self._calls: set[str] = set()
        #: By tool, the schema of its result. The library does not see them, because it throws away what does not fit.
        self._schemas: dict[str, Json] = {}

    def note_request(self, message: Any) -> None:
        """Remember a call of a tool."""
        request: Any = getattr(message, "message", None)
        if getattr(request, "method", None) == "tools/call":
            self._calls.add(str(request.id))

    def mend(self, message: Any) -> Any:
        """The message that came, with a mended result of a tool, or a list of tools without schemas of results."""
        response: Any = getattr(message, "message", None)
        result = getattr(response, "result", None)
        if not isinstance(result, dict):
            return message
        if str(response.id) in self._calls:
            self._calls.discard(str(response.id))
            mend_result(result)
        elif isinstance(result.get("tools"), list):
            for tool in result["tools"]:
                if isinstance(tool, dict) and "outputSchema" in tool:
                    self._schemas[str(tool.get("name"))] = tool.pop("outputSchema")
        return message

    def read(self, tool: str, document: dict[str, Json], meta: Json) -> McpCallResult:
        """The result that the library read, checked by the schema that the tool declares."""
        noted = meta.get(_KEY) if isinstance(meta, Mapping) else None
        warnings = [str(warning) for warning in noted] if isinstance(noted, list) else []
        schema = self._schemas.get(tool)
        if isinstance(schema, Mapping):
            warnings += _check_structure(document, schema)
        return McpCallResult(document, tuple(warnings))


def mend_result(result: dict[str, Json]) -> None:
    """Make a result one that the protocol knows. Each change is a sentence for the record."""
    if result.get("resultType", _COMPLETE) != _COMPLETE:
        return
    warnings: list[str] = []
    result["content"] = list(_mend_content(result, warnings))
    structured = result.get("structuredContent")
    if structured is not None and not isinstance(structured, Mapping):
        result["structuredContent"] = {"result": structured}
        warnings.append("The structured content is not an object. It is taken as “result”.")
    if not isinstance(result.get("isError", False), bool):
        result["isError"] = str(result["isError"]).lower() in ("true", "1")
        warnings.append("“isError” is neither true nor false.")
    meta = result.pop("_meta", None) or {}
    if not isinstance(meta, dict):
        meta = {}
        warnings.append("“_meta” is not an object. It is left out.")
    if meta or warnings:
        result["_meta"] = {**meta, **({_KEY: warnings} if warnings else {})}


def _mend_content(result: Mapping[str, Json], warnings: list[str]) -> Iterator[Json]:
    content = result.get("content")
    if content is None:
        yield from _replace_content(result, warnings)
        return
    if not isinstance(content, list):
        warnings.append("The content is not a list.")
    for number, part in enumerate(content if isinstance(content, list) else [content], 1):
        if _is_known(part):
            yield part
        else:
            kind, own = (part.get("type"), part.get("text")) if isinstance(part, Mapping) else (None, part)
            which = f"of the type “{kind}” is unknown or incomplete" if isinstance(kind, str) else "has no type"
            warnings.append(f"Part {number} of the content {which}. It is taken as text.")
            yield _make_text(own if isinstance(own, str) else dumps(part))


def _replace_content(result: Mapping[str, Json], warnings: list[str]) -> Iterator[Json]:
    """What a result without content has instead."""
    rest = {key: value for key, value in result.items() if key not in _FRAME}
    if result.get("structuredContent") is not None:
        warnings.append("The result has no content besides the structured one.")
    elif rest:
        warnings.append("The result has no content. What it has instead is taken as text.")
        yield _make_text(dumps(rest))
    else:
        warnings.append("The result is empty.")


def _is_known(part: Json) -> bool:
    from mcp_types import CallToolResult

    if not isinstance(part, Mapping) or "type" not in part:
        return False
    with suppress(ValueError):
        CallToolResult.model_validate({"content": [part]}, by_name=False)
        return True
    return False


def _make_text(text: str) -> Json:
    return {"type": "text", "text": text}


def _check_structure(document: dict[str, Json], schema: Mapping[str, Json]) -> Iterator[str]:
    """The reason why the structured content does not fit the tool's schema. JSON in the only text may replace it."""
    if document.get("structuredContent") is None:
        value = _read_text(document.get("content"))
        if value is None:
            yield "The tool declares a schema of its result, and sent text only."
            return
        document["structuredContent"] = value
        yield "The tool declares a schema of its result, and sent text only. The JSON in it is taken."
    try:
        fault = next(iter(get_validator(schema).iter_errors(document["structuredContent"])), None)
    except Exception:
        # A schema may be as wrong as a result.
        yield "The schema that the tool declares for its result cannot be used."
        return
    if fault is not None:
        path = ".".join(map(str, fault.absolute_path))
        yield f"The structured content{f' at {path}' if path else ''} is not what the tool's schema declares."


def _read_text(content: Json) -> dict[str, Json] | None:
    """The object in the only part of a content, a text."""
    texts = [part.get("text") for part in content] if isinstance(content, list) else []
    if len(texts) != 1 or not isinstance(texts[0], str):
        return None
    with suppress(ValueError, RecursionError):
        value = json.loads(texts[0])
        return value if isinstance(value, dict) else None
    return None
