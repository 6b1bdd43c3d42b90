"""The way back: a form that was opened from the workspace of an intent leads there again."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.admin import ModelAdmin

#: The query parameter that says whose workspace a form was opened from.
WORKSPACE = "workspace"


def workspace_url(intent: str) -> str:
    """The workspace of an intent."""
    return reverse("admin:config_admin_ceintent_workspace", args=[intent])


def way_back(request: HttpRequest) -> str:
    """Where a request came from, if it was a workspace."""
    intent = request.GET.get(WORKSPACE, "")
    return workspace_url(intent) if intent else ""


class ReturningAdmin(ModelAdmin):
    """Saving and deleting lead back to the workspace that the form was opened from."""

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """After a new row."""
        return self._back(request) or super().response_post_save_add(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """After an edit."""
        return self._back(request) or super().response_post_save_change(request, obj)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """After a deletion."""
        usual = super().response_delete(request, obj_display, obj_id)
        return self._back(request) or usual

    def _back(self, request: HttpRequest) -> HttpResponse | None:
        url = way_back(request)
        return HttpResponseRedirect(url) if url else None
