"""Pages for addresses that a user may not open or that do not exist."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.template.response import TemplateResponse


def show_refusal(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A user lacks the permission for a page."""
    advice = "Ask an administrator if you need it."
    return _show(request, 403, "No permission", exception, f"You do not have permission for this page. {advice}")


def show_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no such page or row."""
    return _show(request, 404, "Page not found", exception, "The address is wrong, or the item was deleted.")


def _show(request: HttpRequest, status: int, title: str, exception: Exception, text: str) -> HttpResponse:
    # The resolver raises its error with a list of patterns instead of a text.
    reason = next((part for part in exception.args if isinstance(part, str)), "")
    context: dict[str, Any] = {"title": title, "reason": reason, "text": text}
    # API requests have no user, and pages of the admin are for its users only.
    if hasattr(request, "user") and admin.site.has_permission(request):
        context |= admin.site.each_context(request)
        return TemplateResponse(request, "convengine/error.html", context, status=status).render()
    return HttpResponse(loader.render_to_string("convengine/plain_error.html", context), status=status)
