"""Pages for requests that fail: what is missing, which right, and whom to ask; and the front page."""

import sys
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.contrib import admin
from django.core.exceptions import BadRequest
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template import loader
from django.template.response import TemplateResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone

from convengine.server.admin_site import layout
from convengine.server.admin_site.missing_rights import explain_refusal
from convengine.server.deployment import conf

log = structlog.get_logger(__name__)

Links = Sequence[tuple[str, str]]
#: How long a reader may rely on the contacts. RFC 9116 asks for less than a year.
_CONTACTS_VALID = timedelta(days=90)


def show_front_page(request: HttpRequest) -> HttpResponse:
    """The admin's first page for its users; for others, what this is and where to sign in."""
    if admin.site.has_permission(request):
        return HttpResponseRedirect(reverse("admin:index"))
    lines = [
        "ConvEngine holds conversations that analysts configure: intents, forms, rules and answers. Other systems send "
        "messages to its API."
    ]
    if request.user.is_authenticated:
        name = request.user.get_username()
        lines.append(f"You are signed in as {name}, who may not use the admin. Ask an administrator for access.")
    context = {"title": "ConvEngine", "lines": lines, "links": _list_public_links()}
    return HttpResponse(loader.render_to_string("convengine/plain_error.html", context))


def show_favicon(request: HttpRequest) -> HttpResponse:
    """The icon, for browsers that ask for it without reading the page."""
    return HttpResponseRedirect(static("convengine/icon.svg"))


def show_security_contacts(request: HttpRequest) -> HttpResponse:
    """The contacts for reports of vulnerabilities of this installation (RFC 9116)."""
    contacts = conf.get("SECURITY_CONTACTS")
    if not contacts:
        raise Http404("This installation names no contact for security reports (CE_SECURITY_CONTACTS).")
    expires = (timezone.now() + _CONTACTS_VALID).strftime("%Y-%m-%dT00:00:00Z")
    lines = [*(f"Contact: {uri}" for uri in contacts), f"Expires: {expires}"]
    return HttpResponse("".join(f"{line}\n" for line in lines), content_type="text/plain; charset=utf-8")


def show_bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A request that no page of ours sends."""
    # Other exceptions may quote what somebody sent.
    reason = str(exception) if isinstance(exception, BadRequest) else ""
    advice = "Nothing was changed. Go back, reload the page and try again."
    return _show(request, 400, "The request is not complete", [*filter(None, [reason]), advice])


def show_refusal(request: HttpRequest, exception: Exception) -> HttpResponse:
    """A user lacks the permission for a page."""
    lines = [str(exception)] if str(exception) else []
    lines.append("You do not have permission for this page.")
    if hasattr(request, "user") and request.user.is_authenticated:
        lines += explain_refusal(request, exception)
    return _show(request, 403, "No permission", lines)


def show_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    # The resolver raises its error with a list of patterns instead of a text.
    reason = next((part for part in exception.args if isinstance(part, str)), "")
    lines = [*filter(None, [reason]), "The address is wrong, or the item was deleted."]
    return _show(request, 404, "Page not found", lines)


def show_failure(request: HttpRequest) -> HttpResponse:
    """Something broke, or the database does not answer. The log has the details under the number on the page."""
    if isinstance(sys.exc_info()[1], (OperationalError, InterfaceError)):
        # It is stopped, out of reach or overloaded.
        log.error("the database failed", path=request.path, exc_info=True)
        lines = [
            "The server cannot reach its database at the moment. If you were saving, check first whether it was saved.",
            "Try again in a few seconds. If it lasts, tell an administrator.",
        ]
        context: dict[str, Any] = {"title": "The database does not answer", "lines": lines, "links": ()}
        page = loader.render_to_string("convengine/plain_error.html", context)
        return HttpResponse(page, status=503, headers={"Retry-After": "5"})
    incident = str(uuid.uuid4())
    log.error("page failed", incident_id=incident, path=request.path, exc_info=True)
    lines = [
        "The page could not be made. Nothing was changed, unless the page before said so.",
        f"Try again. If it fails again, tell an administrator this number: {incident}. The log has the details.",
    ]
    # Without the admin's frame, which reads the database: that may be what broke.
    context = {"title": "The server has a problem", "lines": lines, "links": _list_public_links()}
    return HttpResponse(loader.render_to_string("convengine/plain_error.html", context), status=500)


def _show(request: HttpRequest, status: int, title: str, lines: Sequence[str]) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "lines": lines}
    # API requests have no user, and pages of the admin are for its users only.
    if hasattr(request, "user") and admin.site.has_permission(request):
        nearest = layout.find_nearest_page(request)
        manual = (reverse("manual"), "Manual")
        api = [(reverse("api-docs"), "API documentation")] if request.path.startswith("/api/") else []
        links = [(reverse("admin:index"), "Home"), *([nearest] if nearest else []), *api, manual]
        context |= {**admin.site.each_context(request), "links": links}
        return TemplateResponse(request, "convengine/error.html", context, status=status).render()
    context["links"] = _list_public_links()
    return HttpResponse(loader.render_to_string("convengine/plain_error.html", context), status=status)


def _list_public_links() -> Links:
    chat = [(reverse("chat"), "Chat")] if conf.get("CHAT") else []
    return [*chat, (reverse("admin:index"), "Sign in"), (reverse("api-docs"), "API documentation")]
