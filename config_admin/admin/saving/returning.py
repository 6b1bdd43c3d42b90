"""The way back: a form that was opened from the workspace of an intent leads there again, or stands in it."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IS_POPUP_VAR
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


def here(url: str) -> str:
    """The address of a form without what is around it, to stand inside another page."""
    return f"{url}{'&' if '?' in url else '?'}{IS_POPUP_VAR}=1"


class ReturningAdmin(ModelAdmin):
    """Saving and deleting lead back to the workspace that the form was opened from."""

    #: What a form inside a page answers when it is saved: the page around it shows what became of it.
    popup_response_template = "config_admin/saved_here.html"

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The form; one that is meant for it may stand in a frame of a page of ours."""
        response: HttpResponse = super().changeform_view(request, *args, **options)
        if IS_POPUP_VAR in request.GET:
            response["X-Frame-Options"] = "SAMEORIGIN"
        return response

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """After a new row; the page around a form in a frame tells of it."""
        self._tell_around(request, obj, "added")
        response: HttpResponse = super().response_add(request, obj, post_url_continue)
        return response

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """After an edit; the same."""
        self._tell_around(request, obj, "changed")
        response: HttpResponse = super().response_change(request, obj)
        return response

    def _tell_around(self, request: HttpRequest, obj: Any, done: str) -> None:
        if IS_POPUP_VAR in request.POST:
            self.message_user(request, f"The {self.opts.verbose_name} “{obj}” was {done}.", messages.SUCCESS)

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
