"""The differences of two forms in the words of the page of a flow: *Day, To: in 90 days → in 3 months*."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from config_admin.flows.field_kinds import find_field_kind
from config_admin.flows.forms import FIELD_LABELS, FLOW_LABELS, FLOW_VALUES
from config_admin.flows.mapping import FIELD, FORM
from config_admin.flows.row_shapes import Part
from config_admin.flows.summary import say_field_value
from convengine.engine.text.difference import ABSENT, Difference, Json, JsonPath

_KEYS_OF_FORMS = {name: part.key for name, part in FORM.items() if isinstance(part, Part) and part.key in FLOW_LABELS}
_KEYS_OF_FIELDS = {name: part.key for name, part in FIELD.items()}


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
    field_type = find_field_kind(declared) or ""
    return say_field_value(field_type, _KEYS_OF_FIELDS[key], value)


def _find_property(name: str, old: Json, new: Json) -> Mapping[str, Any]:
    for schema in (new, old):
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(properties, Mapping) and isinstance(properties.get(name), Mapping):
            return dict(properties[name])
    return {}
