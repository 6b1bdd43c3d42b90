"""What tables, columns and rows are called on pages and in findings."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.conf.locale import LANG_INFO
from django.utils.text import capfirst

from config_admin.validation.stored_columns import control_plane
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn.rows import Row


def table_label(table: str) -> str:
    """The name of a row of a table."""
    return str(control_plane()[table]._meta.verbose_name)


def table_title(table: str) -> str:
    """The plural name of a table's rows."""
    return capfirst(str(control_plane()[table]._meta.verbose_name_plural))


def column_label(table: str, field: str) -> str:
    columns = {column.attname: column for column in control_plane()[table]._meta.concrete_fields}
    return str(columns[field].verbose_name) if field in columns else field


def name_language(language: str) -> str:
    """The name of a language in English: `German` for de."""
    return str(LANG_INFO.get(language, {}).get("name", language))


def row_name(table: str, pk: Any) -> str:
    """The name of a row in a link, such as `Rule 41`."""
    name = table_label(table)
    return f"{name[:1].upper()}{name[1:]} {pk}"


def row_title(row: Row) -> str:
    """The name of a row with what distinguishes it, such as `Rule 41 · too late to cancel`."""
    about = name_row(row.table, row)
    return row_name(row.table, row.pk) + (f" · {about}" if about else "")


def describe_content(table: str, content: Mapping[str, Any]) -> str:
    """The name of a row by its columns; blank for columns of an older table."""
    try:
        return name_row(table, SimpleNamespace(**content))
    except AttributeError:
        return ""
