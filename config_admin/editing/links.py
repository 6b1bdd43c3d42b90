"""Addresses of the admin's pages."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import quote
from django.http import HttpRequest
from django.urls import reverse

from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn.live_settings import Setting


def release_url(config_version: int) -> str:
    return reverse("admin:config_admin_cerelease_change", args=[config_version])


def undo_url(config_version: int) -> str:
    """The page that asks whether to undo only what one release changed."""
    return reverse("admin:config_admin_cerelease_take_back", args=[config_version])


def draft_url(draft_id: int) -> str:
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


def list_visible_tables(request: HttpRequest) -> set[str]:
    """The tables that this user may see."""
    models, admins = control_plane(), admin.site.get_model_admin
    return {table for table, model in models.items() if admins(model).has_view_or_change_permission(request)}


def put_back_url(table: str, pk: Any, config_version: int) -> str:
    """The page that asks whether to restore a row as it was in a release."""
    opts = control_plane()[table]._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_put_back", args=[quote(pk), config_version])


def flow_page_url(intent: str) -> str:
    return reverse("admin:config_admin_ceintent_flow", args=[intent])


def workspace_url(intent: str) -> str:
    return reverse("admin:config_admin_ceintent_workspace", args=[intent])


def health_url() -> str:
    return reverse("admin:config_admin_cerule_health")


def chart_url(intent: str = "") -> str:
    if not intent:
        return reverse("admin:config_admin_ceintent_map")
    return reverse("admin:config_admin_ceintent_map_of", args=[intent])


def settings_url(setting: Setting[Any] | None = None) -> str:
    """The address of the page at a setting."""
    anchor = f"#{setting.name.replace('/', '-')}" if setting else ""
    return reverse("admin:config_admin_ceconfig_effective") + anchor
