"""The differences of two forms in the words of the page of a flow: *Day, To: in 90 days → in 3 months*."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from config_admin.comparison.json_diff import PathChange, Segment, list_path_changes
from config_admin.flows.flows import FIELD_TEXTS
from config_admin.flows.forms import BOUNDED, FIELD_LABELS, FLOW_LABELS, FLOW_VALUES
from config_admin.flows.summary import say_field_value
from convengine.engine.text.json_diff import ABSENT, diff_json, format_path

Json = Any
_KEYS_OF_FORMS: Mapping[str, str] = {
    "x-on-no": "on_no", "x-on-leave": "on_leave", "x-ask-mode": "ask_mode", "x-locale": "locale",
    "x-max-misses": "max_misses",
}  # fmt: skip
_KEYS_OF_FIELDS: Mapping[str, str] = {
    "title": "title", "x-min": "min", "x-max": "max", "minimum": "min", "maximum": "max",
    **{name: key for key, name in FIELD_TEXTS.items()},
}  # fmt: skip


def list_form_changes(old: Json, new: Json) -> Iterator[PathChange]:
    """The changed paths of a form's schema; single values that the page of a flow has, in its words."""
    worded: dict[str, PathChange] = {}
    for path, before, after in diff_json(old, new, sort_keys=True):
        if (label := _name_path(path, old, new)) and not isinstance(before, (list, dict)):
            values = (_say_value(path, value, old, new) for value in (before, after))
            marks = [Segment(kind, text) for kind, text in zip(("out", "in"), values, strict=True) if text]
            worded[format_path(path, str)] = PathChange(format_path(path, str), marks, label)
    for change in list_path_changes(old, new):
        yield worded.get(change.path, change)


def _name_path(path: Sequence[str | int], old: Json, new: Json) -> str:
    match path:
        case [str(key)] if key in _KEYS_OF_FORMS:
            return FLOW_LABELS[_KEYS_OF_FORMS[key]]
        case ["properties", str(name), str(key)] if key in _KEYS_OF_FIELDS:
            return f"{_find_property(name, old, new).get('title') or name}, {FIELD_LABELS[_KEYS_OF_FIELDS[key]]}"
    return ""


def _say_value(path: Sequence[str | int], value: Json, old: Json, new: Json) -> str:
    if value is ABSENT:
        return ""
    key = str(path[-1])
    if len(path) == 1:
        return str(FLOW_VALUES.get(_KEYS_OF_FORMS[key], {}).get(value, value))
    declared = _find_property(str(path[1]), old, new)
    field_type = str(declared.get("x-kind") or declared.get("format") or declared.get("type"))
    field_type = {"date-time": "datetime"}.get(field_type, field_type)
    return str(say_field_value(field_type if field_type in BOUNDED else "text", _KEYS_OF_FIELDS[key], value))


def _find_property(name: str, old: Json, new: Json) -> Mapping[str, Any]:
    for schema in (new, old):
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(properties, Mapping) and isinstance(properties.get(name), Mapping):
            return dict(properties[name])
    return {}
