"""Older template forms in rows, `#{…}` and the like: what becomes of them at save and at import (pipeline-2 9.5)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from config_admin.validation.checks.config import setting_of
from convengine.domain import rows
from convengine.prompts.convert import ConversionError, convert

Json = Any
#: The columns that hold templates, or documents with templates as texts.
COLUMNS: Mapping[str, Sequence[str]] = {
    rows.PromptTemplate.table: ("system_prompt", "user_prompt"),
    rows.Response.table: ("exact_text", "derivation_hint"),
    rows.Verbose.table: ("message", "error_message"),
    rows.Planner.table: ("system_prompt", "user_prompt"),
    rows.DirectTool.table: ("args_template",),
    rows.HttpTool.table: ("url_template", "body_template", "headers_json", "query_json"),
}


class Change(NamedTuple):
    """One expression that was said anew."""

    field: str
    before: str
    after: str


def in_jinja(table: str, row: Any) -> tuple[dict[str, Json], list[Change]]:
    """The columns of a row, or of a model's instance, that change, and what changes in them.

    A template that cannot be converted stays as it is; the save checks say what is wrong with it.
    """
    values: dict[str, Json] = {}
    changes: list[Change] = []
    for field in columns(table, row):
        before = getattr(row, field)
        after, found = _converted(before)
        if found:
            values[field] = after
            changes.extend(Change(field, *one) for one in found)
    return values, changes


def columns(table: str, row: Any) -> Sequence[str]:
    """The columns of a row that hold templates: of a setting, its value where the setting is one."""
    if table == rows.Config.table:
        setting = setting_of(row)
        return ("config_value",) if setting and setting.kind.name in ("prompt", "template") else ()
    return COLUMNS.get(table, ())


def _converted(value: Json) -> tuple[Json, list[tuple[str, str]]]:
    if isinstance(value, str):
        try:
            found = convert(value)
        except ConversionError:
            return value, []
        return found.text, list(found.changes)
    if isinstance(value, Mapping):
        made = {key: _converted(item) for key, item in value.items()}
        return {key: item for key, (item, _) in made.items()}, list(_changes(made.values()))
    if isinstance(value, (list, tuple)):
        items = [_converted(item) for item in value]
        return [item for item, _ in items], list(_changes(items))
    return value, []


def _changes(made: Any) -> Iterator[tuple[str, str]]:
    for _, found in made:
        yield from found
