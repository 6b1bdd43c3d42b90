"""The search of the whole admin, as a page and for the Ctrl-K box; and favourites."""

import uuid
from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.response import TemplateResponse
from django.urls import NoReverseMatch, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_url
from config_admin.manual import prose
from config_admin.releases.content import control_plane
from config_admin.workplace.favourites import find_saved_rows, mark, row_of
from config_admin.workplace.search import Found, Hit, search
from convengine.server.admin_site.layout import sidebar

#: How many recently opened rows the box shows before somebody types.
RECENT = 12


@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """The search results; without words, the favourites and recently opened rows."""
    text = request.GET.get("q", "").strip()
    found = _search(request, text) if text else _find_saved_hits(request)
    if request.headers.get("Accept", "").startswith("application/json"):
        return JsonResponse({"hits": [hit.as_dict() for hit in found.hits], "total": found.total})
    context = {**admin.site.each_context(request), "title": "Search", "wanted": text, "found": found}
    return TemplateResponse(request, "config_admin/search.html", context)


@require_POST
def favourite(request: HttpRequest) -> HttpResponse:
    """Add a favourite (`on`) or remove it, and return to the page of the request."""
    table, pk = request.POST.get("table", ""), request.POST.get("pk", "")
    row = row_of(get_editor_context(request).snapshot, table, pk)
    if row is None:
        raise Http404
    if table not in _tables(request):
        raise PermissionDenied
    mark(request.user, table, row.pk, request.POST.get("on") == "1")
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    return HttpResponseRedirect(back if is_ours else row_url(table, row.pk))


def _search(request: HttpRequest, text: str) -> Found:
    conversation = list(_conversation(request, text))
    found = search(get_editor_context(request).snapshot, text, _tables(request), list(_pages(request)))
    return Found([*conversation, *found.hits], len(conversation) + found.total)


def _find_saved_hits(request: HttpRequest) -> Found:
    found = find_saved_rows(request.user, get_editor_context(request).snapshot, RECENT)
    hits = [Hit(link.url, link.name, link.about, "favourite", enabled=link.enabled) for link in found.favourites]
    hits += [Hit(link.url, link.name, link.about, "recently opened", enabled=link.enabled) for link in found.recent]
    return Found(hits, len(hits))


def _tables(request: HttpRequest) -> set[str]:
    """The tables that this user may see."""
    return {
        table
        for table, model in control_plane().items()
        if admin.site.get_model_admin(model).has_view_or_change_permission(request)
    }


def _pages(request: HttpRequest) -> Iterator[Hit]:
    for group in sidebar(request):
        for place in group["items"]:
            for page in place["items"]:
                yield Hit(page["link"], page["title"], page["help"])
    for _, chapters in prose.contents():
        for chapter in chapters:
            yield Hit(reverse("manual_chapter", args=[chapter.slug]), chapter.title, "Chapter of the manual")


def _conversation(request: HttpRequest, text: str) -> Iterator[Hit]:
    """The conversation of an id; its page says whether it exists."""
    user: Any = request.user
    try:
        wanted = uuid.UUID(text)
        url = reverse("admin:ce_sessions_ceconversation_change", args=[wanted])
    except (ValueError, NoReverseMatch):
        return
    if user.has_perm("ce_sessions.view_ceconversation"):
        yield Hit(url, f"Conversation {wanted}", "Conversation with its turns")
