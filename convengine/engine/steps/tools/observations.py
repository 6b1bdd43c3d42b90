"""The results of tools in a run, for the context and for the planner."""

from collections.abc import Mapping, Sequence

from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.codec import dumps, loads
from convengine.json_value import Json

Observation = dict[str, str]

#: The planner sees these fields of a large result, if it has any.
_MAIN_FIELDS = (
    "status", "summary", "message", "error", "queryCode", "rowCount", "valid", "canExecute", "selectedCase",
    "selectedPlaybook", "outcome", "finalSummary", "graphError",
)  # fmt: skip
_SHOWN_ROWS = 2
_SHOWN_KEYS = 20
_SHOWN_TEXT = 2000


def build_observation(tool_code: str, result: Json, limit: int) -> Observation:
    """A tool's result as {toolCode, json}; beyond `limit` bytes a marker with its beginning."""
    text = dumps(result)
    size = len(text.encode())
    if size > limit:
        beginning = text.encode()[: limit // 2].decode(errors="ignore")
        text = dumps({"truncated": True, "bytes": size, "preview": beginning})
    return {"toolCode": tool_code, "json": text}


def bound_observations(observations: Sequence[Observation], limit: int) -> list[Observation]:
    """The observations, with notes of their size in place of the oldest while there are more than `limit` bytes.

    The newest one stays, whatever its size.
    """
    remaining = list(observations)
    sizes = [len(observation["json"].encode()) for observation in remaining]
    for index in range(len(remaining) - 1):
        if sum(sizes) <= limit:
            break
        note = dumps({"omitted": True, "bytes": sizes[index]})
        if len(note) < sizes[index]:
            remaining[index] = {**remaining[index], "json": note}
            sizes[index] = len(note)
    return remaining


def find_latest_summary(observations: Sequence[Observation]) -> str | None:
    """The `summary` of the latest observation that has one. Returns None if none has."""
    for observation in reversed(observations):
        value = _read_content(loads(observation["json"]))
        if isinstance(value, Mapping) and isinstance(value.get("summary"), str) and not blank(value["summary"]):
            return str(value["summary"])
    return None


def compact_observations(observations: Sequence[Observation], count: int, max_chars: int) -> list[Json]:
    """What the planner sees: the newest `count` observations, each reduced, without duplicates.

    Beyond `max_chars` in total, the oldest are omitted, and of the newest at least its beginning is left.
    """
    shown: list[Json] = []
    for observation in observations[-count:]:
        entry = {
            "toolCode": observation["toolCode"],
            "json": _reduce_value(_read_content(loads(observation["json"])), max_chars),
        }
        if entry not in shown:
            shown.append(entry)
    for index, entry in enumerate(shown):
        if _count_chars(shown) <= max_chars:
            break
        rest = max_chars - (_count_chars(shown) - len(dumps(entry["json"])))
        newest = index == len(shown) - 1
        shown[index] = {**entry, "json": shorten(dumps(entry["json"]), max(rest - 20, 100)) if newest else "omitted"}
    return shown


def _count_chars(shown: Sequence[Json]) -> int:
    return len(dumps(shown))


def _read_content(value: Json) -> Json:
    """The content of a result; of an MCP server's, its structured content or its text, as JSON if possible."""
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


def _reduce_value(value: Json, max_chars: int) -> Json:
    """The value if it is short; of a large one its important fields."""
    if len(dumps(value)) <= _SHOWN_TEXT:
        return value
    if isinstance(value, list):
        return {"rowCount": len(value), "rowsPreview": _shorten_texts(value[:_SHOWN_ROWS])}
    if not isinstance(value, Mapping):
        return shorten(value if isinstance(value, str) else dumps(value), max_chars)
    main_fields = {name: _shorten_texts(value[name]) for name in _MAIN_FIELDS if name in value}
    rows = value.get("rows")
    if isinstance(rows, list):
        main_fields |= {"rowCount": value.get("rowCount", len(rows)), "rows": _shorten_texts(rows[:_SHOWN_ROWS])}
    return main_fields or {name: _shorten_texts(value[name]) for name in list(value)[:_SHOWN_KEYS]}


def _shorten_texts(value: Json) -> Json:
    if isinstance(value, str):
        return shorten(value, _SHOWN_TEXT)
    if isinstance(value, Mapping):
        return {name: _shorten_texts(item) for name, item in value.items()}
    return [_shorten_texts(item) for item in value] if isinstance(value, list) else value
