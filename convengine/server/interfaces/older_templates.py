"""Older template forms, such as `#{…}`, which become Jinja2 on import and on save; the engine reads only Jinja2.

The setting `TEMPLATE_CONVERTER` names the function that converts a text. Without one, every template is Jinja2.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from convengine.engine.turn import rows
from convengine.engine.turn.live_settings import CATALOGUE, canonical_key
from convengine.json_value import Json
from convengine.server.deployment import conf

#: The columns with templates, or with documents that contain templates.
COLUMNS: Mapping[str, Sequence[str]] = {
    rows.PromptTemplate.table: ("system_prompt", "user_prompt"),
    rows.Response.table: ("exact_text", "derivation_hint"),
    rows.Verbose.table: ("message", "error_message"),
    rows.Planner.table: ("system_prompt", "user_prompt"),
    rows.DirectTool.table: ("args_template",),
    rows.HttpTool.table: ("url_template", "body_template", "headers_json", "query_json"),
}


@dataclass(frozen=True)
class Converted:
    """A template in Jinja2, and the changes: (before, after) pairs in text order."""

    text: str
    changes: tuple[tuple[str, str], ...] = ()


class ConversionError(ValueError):
    """A template that cannot be converted. `position` counts from 1."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


class ConvertedExpression(NamedTuple):
    """One converted expression."""

    field: str
    before: str
    after: str


def convert(text: str) -> Converted:
    """The template in Jinja2. Line breaks keep their positions. Raises ConversionError."""
    path = conf.get("TEMPLATE_CONVERTER")
    converted: Converted = conf.import_from_path(path)(text) if path else Converted(text)
    return converted


def to_jinja(text: str) -> str:
    """The template in Jinja2; unchanged if it cannot be converted."""
    try:
        return convert(text).text
    except ConversionError:
        return text


def convert_row(table: str, values: Mapping[str, Json]) -> tuple[dict[str, Json], list[ConvertedExpression]]:
    """The changed columns of a row, and the conversions.

    A template that cannot be converted stays unchanged; the save checks report it.
    """
    converted: dict[str, Json] = {}
    changes: list[ConvertedExpression] = []
    for field in template_columns(table, values):
        after, field_changes = _convert(values.get(field))
        if field_changes:
            converted[field] = after
            changes.extend(ConvertedExpression(field, *change) for change in field_changes)
    return converted, changes


def template_columns(table: str, values: Mapping[str, Json]) -> Sequence[str]:
    """The columns of a row with templates; for a setting, its value if the setting is one."""
    if table == rows.Config.table:
        setting = CATALOGUE.get(canonical_key(values.get("config_type"), values.get("config_key"))[:2])
        return ("config_value",) if setting and setting.kind.name in ("prompt", "template") else ()
    return COLUMNS.get(table, ())


def _convert(value: Json) -> tuple[Json, list[tuple[str, str]]]:
    if isinstance(value, str):
        try:
            conversion = convert(value)
        except ConversionError:
            return value, []
        return conversion.text, list(conversion.changes)
    if isinstance(value, Mapping):
        entries = {key: _convert(item) for key, item in value.items()}
        return {key: item for key, (item, _) in entries.items()}, list(_changes(entries.values()))
    if isinstance(value, (list, tuple)):
        items = [_convert(item) for item in value]
        return [item for item, _ in items], list(_changes(items))
    return value, []


def _changes(converted: Any) -> Iterator[tuple[str, str]]:
    for _, row_changes in converted:
        yield from row_changes
