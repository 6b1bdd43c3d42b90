"""The pages of the manual with their addresses: contents and search, chapters, and single entries for the panel."""

from typing import Any

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse

from config_admin.manual import prose, reference, vocabulary
from convengine.server.admin_site.breadcrumbs import Crumb, set_breadcrumbs

#: The title of the manual.
NAME = "Manual"
#: How many entries a search shows.
SHOWN = 60


def contents(request: HttpRequest) -> HttpResponse:
    """The table of contents; with `q` the search results."""
    text = request.GET.get("q", "").strip()
    entries = reference.search(text)
    context = {
        "q": text,
        "chapters": prose.search(text)[:8],
        "locations": entries[:SHOWN],
        "more": max(len(entries) - SHOWN, 0),
        "tasks": prose.tasks(),
        "prose": prose.contents(),
        "reference": list(reference.contents()),
    }
    return _page(request, "docs/contents.html", NAME, context)


def chapter(request: HttpRequest, slug: str) -> HttpResponse:
    """A chapter. `errors` is that of the reference: failed calls lead there."""
    if slug == vocabulary.ERRORS:
        return reference_chapter(request, slug)
    try:
        page = prose.chapter(slug)
    except KeyError as error:
        raise Http404(f"The manual has no chapter {slug}.") from error
    return _page(request, "docs/chapter.html", page.title, {"chapter": page})


def reference_chapter(request: HttpRequest, slug: str) -> HttpResponse:
    page = reference.chapters().get(slug)
    if page is None:
        raise Http404(f"The reference has no chapter {slug}.")
    return _page(request, "docs/reference.html", page.title, {"chapter": page})


def entry(request: HttpRequest, anchor: str) -> HttpResponse:
    """One entry, without a page around it."""
    location = reference.index_entries().get(anchor)
    if location is None:
        raise Http404(f"The reference has no entry {anchor}.")
    others = location.chapter.entries[1:] if location.entry.name == location.chapter.slug else ()
    further = [prose.chapter(slug) for slug in location.entry.chapters]
    context = {"location": location, "entry": location.entry, "others": others, "further": further}
    return TemplateResponse(request, "docs/panel.html", context)


def _page(request: HttpRequest, template: str, title: str, context: dict[str, Any]) -> HttpResponse:
    if title != NAME:
        set_breadcrumbs(request, Crumb(NAME, reverse("manual")), Crumb(title))
    return TemplateResponse(request, template, {**admin.site.each_context(request), "title": title, **context})


urlpatterns = [
    path("", admin.site.admin_view(contents), name="manual"),
    path("reference/<str:slug>/", admin.site.admin_view(reference_chapter), name="manual_reference"),
    path("entry/<path:anchor>/", admin.site.admin_view(entry), name="manual_entry"),
    path("<slug:slug>/", admin.site.admin_view(chapter), name="manual_chapter"),
]
