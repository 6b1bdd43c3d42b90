"""The first page of the admin: what is in force, what changed last, and where to go."""

from typing import Any

from django.http import HttpRequest

from config_admin.models import CeRelease

NEWEST = 8


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the page shows beside the sidebar's groups."""
    if request.user.has_perm("config_admin.view_cerelease"):
        context["releases"] = list(CeRelease.objects.order_by("-config_version")[:NEWEST])
    return context
