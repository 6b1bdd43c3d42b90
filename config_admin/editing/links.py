"""Addresses of the admin's pages, and names of rows in links."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst

from config_admin.validation.stored_columns import control_plane
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn.rows import Row


def release_url(config_version: int) -> str:
    """The page of a release."""
    return reverse("admin:config_admin_cerelease_change", args=[config_version])


def undo_url(config_version: int) -> str:
    """The page that asks whether to undo only what one release changed."""
    return reverse("admin:config_admin_cerelease_take_back", args=[config_version])


def draft_url(draft_id: int) -> str:
    """The page of a draft."""
    return reverse("admin:config_admin_cedraft_change", args=[draft_id])


def row_url(table: str, pk: Any, page: str = "change") -> str:
    """A page of a row: change, history or delete."""
    opts = control_plane()[table]._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}", args=[quote(pk)])


def find_readable_url(request: HttpRequest, table: str, pk: Any, page: str = "change") -> str:
    """A page of a row; blank for a user who may not open it, and for a table that does not exist any more."""
    model = control_plane().get(table)
    is_readable = model is not None and admin.site.get_model_admin(model).has_view_or_change_permission(request)
    return row_url(table, pk, page) if is_readable else ""


def row_name(table: str, pk: Any) -> str:
    """The name of a row in a link, such as `Rule 41`."""
    name = table_label(table)
    return f"{name[:1].upper()}{name[1:]} {pk}"


def row_title(row: Row) -> str:
    """The name of a row with what distinguishes it, such as `Rule 41 · too late to cancel`."""
    about = name_row(row.table, row)
    return row_name(row.table, row.pk) + (f" · {about}" if about else "")


def put_back_url(table: str, pk: Any, config_version: int) -> str:
    """The page that asks whether to restore a row as it was in a release."""
    opts = control_plane()[table]._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_put_back", args=[quote(pk), config_version])


def table_label(table: str) -> str:
    """The name of a row of a table."""
    return str(control_plane()[table]._meta.verbose_name)


def column_label(table: str, field: str) -> str:
    """The label of a column."""
    columns = {column.attname: column for column in control_plane()[table]._meta.concrete_fields}
    return str(columns[field].verbose_name) if field in columns else field


def table_title(table: str) -> str:
    """The plural name of a table's rows."""
    return capfirst(str(control_plane()[table]._meta.verbose_name_plural))


def describe_content(table: str, content: Mapping[str, Any]) -> str:
    """The name of a row by its columns; blank for columns of an older table."""
    try:
        return name_row(table, SimpleNamespace(**content))
    except AttributeError:
        return ""


def flow_page_url(intent: str) -> str:
    """The page that edits the flow of an intent."""
    return reverse("admin:config_admin_ceintent_flow", args=[intent])


def workspace_url(intent: str) -> str:
    """The workspace of an intent."""
    return reverse("admin:config_admin_ceintent_workspace", args=[intent])
