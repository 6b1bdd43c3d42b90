"""Addresses of the admin's own pages, and how rows are called in links."""

from typing import Any

from django.contrib.admin.utils import quote
from django.urls import reverse

from config_admin.admin.comparison.differences import name_of
from config_admin.releases.content import control_plane


def release_url(config_version: int) -> str:
    """The page of a release."""
    return reverse("admin:config_admin_cerelease_change", args=[config_version])


def row_url(table: str, pk: Any, page: str = "change") -> str:
    """A page of a row: change, history or delete."""
    opts = control_plane()[table]._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_{page}", args=[quote(pk)])


def row_name(table: str, pk: Any) -> str:
    """What a row is called in a link, such as `Rule 41`."""
    name = name_of(table)
    return f"{name[:1].upper()}{name[1:]} {pk}"


def put_back_url(table: str, pk: Any, config_version: int) -> str:
    """The question whether to put a row back to what it was in a release."""
    opts = control_plane()[table]._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_put_back", args=[quote(pk), config_version])
