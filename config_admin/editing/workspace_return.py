"""Lead back to the workspace or the flow from which a form was opened."""

from typing import Any

from django.contrib import messages
from django.contrib.admin.options import IS_POPUP_VAR
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.admin import ModelAdmin

from config_admin.editing.links import flow_page_url, workspace_url

#: The query parameter with the workspace of a form.
WORKSPACE = "workspace"
#: The query parameter with the flow of a form.
FLOW = "flow"


def find_return_url(request: HttpRequest) -> str:
    """The page that a request's form was opened from; blank for a list."""
    if flow_code := request.GET.get(FLOW, ""):
        return flow_page_url(flow_code)
    intent = request.GET.get(WORKSPACE, "")
    return workspace_url(intent) if intent else ""


def popup_url(url: str) -> str:
    """The address of a form for a frame inside another page."""
    return f"{url}{'&' if '?' in url else '?'}{IS_POPUP_VAR}=1"


class WorkspaceReturnAdmin(ModelAdmin):
    """Saving and deleting lead back to the workspace or the flow of the form."""

    #: The answer of a saved form in a frame: the page around it shows the result.
    popup_response_template = "config_admin/saved_here.html"

    def changeform_view(self, request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        """The form; it may be shown in a frame of our own pages."""
        response: HttpResponse = super().changeform_view(request, *args, **options)
        if IS_POPUP_VAR in request.GET:
            response["X-Frame-Options"] = "SAMEORIGIN"
        return response

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """After adding a row; a form in a frame informs the page around it."""
        self._tell_around(request, obj, "added")
        response: HttpResponse = super().response_add(request, obj, post_url_continue)
        return response

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        self._tell_around(request, obj, "changed")
        response: HttpResponse = super().response_change(request, obj)
        return response

    def _tell_around(self, request: HttpRequest, obj: Any, done: str) -> None:
        if IS_POPUP_VAR in request.POST:
            self.message_user(request, f"The {self.opts.verbose_name} “{obj}” was {done}.", messages.SUCCESS)

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._back(request) or super().response_post_save_add(request, obj)

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        return self._back(request) or super().response_post_save_change(request, obj)

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        usual = super().response_delete(request, obj_display, obj_id)
        return self._back(request) or usual

    def _back(self, request: HttpRequest) -> HttpResponse | None:
        url = find_return_url(request)
        return HttpResponseRedirect(url) if url else None
