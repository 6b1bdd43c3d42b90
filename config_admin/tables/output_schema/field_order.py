"""The order of a form's fields. Releases sort the keys of a JSON document, so that it is written as `x-order`."""

from collections.abc import Callable
from typing import Any

from django.db import models

from config_admin.validation.relations import sort_properties
from convengine.json_value import Json

_Properties = dict[str, Json]
ORDER = "x-order"
#: Keys of a schema whose value is a schema, a list of schemas, and schemas by name.
_SCHEMA, _LIST, _BY_NAME = ("items", "then", "else"), ("allOf", "anyOf", "oneOf"), ("properties", "$defs")


class SchemaField(models.JSONField):
    """A JSON column for the schema of a form, which shows its properties in the order in which the form asks."""

    def to_python(self, value: Any) -> Any:
        """What people and files give, with the order as written."""
        return write_order(super().to_python(value))

    def from_db_value(self, *args: Any) -> Any:
        """The stored document in the order of the form."""
        return _change(super().from_db_value(*args), _sort)

    def deconstruct(self) -> Any:
        """Migrations see a JSON column."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.JSONField", args, options


def write_order(schema: Json) -> Json:
    """The schema with `x-order` in properties whose order would be lost.

    Where some have it, they are counted again if it says what their positions say: a field was added between them.
    """
    return _change(schema, _number)


def _change(schema: Json, change: Callable[[_Properties], _Properties]) -> Json:
    """The schema with its properties changed, also those inside of it."""
    if not isinstance(schema, dict):
        return schema
    changed = {key: _change_inside(key, value, change) for key, value in schema.items()}
    properties = changed.get("properties")
    return changed | {"properties": change(properties)} if isinstance(properties, dict) else changed


def _change_inside(key: str, value: Json, change: Callable[[_Properties], _Properties]) -> Json:
    if key in _SCHEMA:
        return _change(value, change)
    if key in _LIST and isinstance(value, list):
        return [_change(part, change) for part in value]
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _change(part, change) for name, part in value.items()}
    return value


def _number(properties: _Properties) -> _Properties:
    given = [part[ORDER] for part in properties.values() if isinstance(part, dict) and ORDER in part]
    is_kept = len(given) == len(properties) or (not given and list(properties) == sorted(properties))
    if is_kept or given != list(range(1, len(given) + 1)):
        return properties
    return {
        name: {**declared, ORDER: number} if isinstance(declared, dict) else declared
        for number, (name, declared) in enumerate(properties.items(), 1)
    }


def _sort(properties: _Properties) -> _Properties:
    in_release = dict(sorted(properties.items()))
    return {name: properties[name] for name in sort_properties({"properties": in_release})}
