"""What tools returned in a run: as the context keeps it, and as the planner is shown it (pipeline-2 4.3, 4.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.codec import dumps, loads
from convengine.domain.text import blank, excerpt

Json = Any
Observation = dict[str, str]

#: Of a large result the planner is shown these fields, if it has any of them.
_TELLING = (
    "status", "summary", "message", "error", "queryCode", "rowCount", "valid", "canExecute", "selectedCase",
    "selectedPlaybook", "outcome", "finalSummary", "graphError",
)  # fmt: skip
_ROWS = "rows"
_SHOWN_ROWS = 2
_SHOWN_KEYS = 20
_SHOWN_TEXT = 2000


def observed(tool_code: str, result: Json, limit: int) -> Observation:
    """What a tool returned, as {toolCode, json}; beyond `limit` bytes a marker with its beginning."""
    text = dumps(result)
    size = len(text.encode())
    if size > limit:
        beginning = text.encode()[: limit // 2].decode(errors="ignore")
        text = dumps({"truncated": True, "bytes": size, "preview": beginning})
    return {"toolCode": tool_code, "json": text}


def bounded(observations: Sequence[Observation], limit: int) -> list[Observation]:
    """The observations within `limit` bytes together: the oldest give way to a note of their size."""
    kept = list(observations)
    sizes = [len(one["json"].encode()) for one in kept]
    for place in range(len(kept) - 1):
        if sum(sizes) <= limit:
            break
        note = dumps({"omitted": True, "bytes": sizes[place]})
        if len(note) < sizes[place]:
            kept[place] = {**kept[place], "json": note}
            sizes[place] = len(note)
    return kept


def summary_of(observations: Sequence[Observation]) -> str | None:
    """The `summary` of the latest observation that has one."""
    for one in reversed(observations):
        value = _content(loads(one["json"]))
        if isinstance(value, Mapping) and isinstance(value.get("summary"), str) and not blank(value["summary"]):
            return str(value["summary"])
    return None


def compacted(observations: Sequence[Observation], count: int, max_chars: int) -> list[Json]:
    """What the planner is shown: the newest `count`, each reduced, no two alike, together at most `max_chars`."""
    shown: list[Json] = []
    for one in observations[-count:]:
        entry = {"toolCode": one["toolCode"], "json": _reduced(_content(loads(one["json"])), max_chars)}
        if entry not in shown:
            shown.append(entry)
    for place, entry in enumerate(shown):
        if _size(shown) <= max_chars:
            break
        rest = max_chars - (_size(shown) - len(dumps(entry["json"])))
        newest = place == len(shown) - 1
        shown[place] = {**entry, "json": excerpt(dumps(entry["json"]), max(rest - 20, 100)) if newest else "omitted"}
    return shown


def _size(shown: Sequence[Json]) -> int:
    return len(dumps(shown))


def _content(value: Json) -> Json:
    """What a result says: of an MCP server's, its structured content or its text, as JSON where it is."""
    if not isinstance(value, Mapping) or not isinstance(value.get("content"), list):
        return value
    if value.get("structuredContent") is not None:
        return value["structuredContent"]
    texts = [str(block.get("text", "")) for block in value["content"] if isinstance(block, Mapping)]
    text = "\n".join(texts)
    try:
        return loads(text)
    except ValueError:
        return text


def _reduced(value: Json, max_chars: int) -> Json:
    """The value as it is while it is short; of a large one what usually tells most."""
    if len(dumps(value)) <= _SHOWN_TEXT:
        return value
    if isinstance(value, list):
        return {"rowCount": len(value), "rowsPreview": _cut(value[:_SHOWN_ROWS])}
    if not isinstance(value, Mapping):
        return excerpt(value if isinstance(value, str) else dumps(value), max_chars)
    telling = {name: _cut(value[name]) for name in _TELLING if name in value}
    rows = value.get(_ROWS)
    if isinstance(rows, list):
        telling = {**telling, "rowCount": value.get("rowCount", len(rows)), _ROWS: _cut(rows[:_SHOWN_ROWS])}
    return telling or {name: _cut(value[name]) for name in list(value)[:_SHOWN_KEYS]}


def _cut(value: Json) -> Json:
    if isinstance(value, str):
        return excerpt(value, _SHOWN_TEXT)
    if isinstance(value, Mapping):
        return {name: _cut(item) for name, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list) else value
