"""The differences of two forms in the words of the page of a flow: *Day, To: in 90 days → in 3 months*."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config_admin.flows.flows import FIELD_TEXTS
from config_admin.flows.forms import BOUNDED, FIELD_LABELS, FLOW_LABELS, FLOW_VALUES
from config_admin.flows.summary import say_field_value
from convengine.engine.text.difference import ABSENT, Difference, Json, JsonPath

_KEYS_OF_FORMS: Mapping[str, str] = {
    "x-on-no": "on_no", "x-on-leave": "on_leave", "x-ask-mode": "ask_mode", "x-locale": "locale",
    "x-max-misses": "max_misses",
}  # fmt: skip
_KEYS_OF_FIELDS: Mapping[str, str] = {
    "title": "title", "x-min": "min", "x-max": "max", "minimum": "min", "maximum": "max",
    **{name: key for key, name in FIELD_TEXTS.items()},
}  # fmt: skip


def describe_form_difference(difference: Difference, old: Json, new: Json) -> Difference:
    """A difference of two forms' schemas in the words of the page of a flow, if the page has the value."""
    path, sides = difference.path, (difference.before, difference.after)
    label = _name_path(path, old, new)
    if not label or any(isinstance(value, (list, dict)) for value in sides):
        return difference
    before, after = (_say_value(path, value, old, new) for value in sides)
    return replace(difference, before=before, after=after, label=label)


def _name_path(path: JsonPath, old: Json, new: Json) -> str:
    match path:
        case [str(key)] if key in _KEYS_OF_FORMS:
            return FLOW_LABELS[_KEYS_OF_FORMS[key]]
        case ["properties", str(name), str(key)] if key in _KEYS_OF_FIELDS:
            return f"{_find_property(name, old, new).get('title') or name}, {FIELD_LABELS[_KEYS_OF_FIELDS[key]]}"
    return ""


def _say_value(path: JsonPath, value: Json, old: Json, new: Json) -> str:
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
