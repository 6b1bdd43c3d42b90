"""The page that finds turns and conversations. Its address is the search: whoever gets it sees the same."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.finding import saved
from audit.finding.form import GROUPS, TIMES, FindForm
from audit.finding.hints import hints, suggestions
from audit.finding.results import lines
from audit.finding.search import CONVERSATIONS
from audit.finding.walk import Cursor, Found, find
from audit.models import CeAccessLog

RIGHT = "ce_sessions.view_ceconversationhistory"
#: Lines of a page.
SIZE = 50
CURSOR = "at"


def find_page(request: HttpRequest) -> HttpResponse:
    """The form, what it finds, and the searches kept under a name."""
    if not request.user.has_perm(RIGHT):
        raise PermissionDenied
    form = FindForm(request.GET)
    if request.method != "POST" and any(not text for text in request.GET.values()):
        # What was left empty is not part of the address that one hands on.
        return HttpResponseRedirect(_address(request, form.asked))
    save = saved.SaveForm(request.user, form.asked)
    if request.method == "POST":
        if "delete" in request.POST:
            return _delete(request, form)
        save = saved.SaveForm(request.user, form.asked, request.POST)
        if form.is_valid() and save.is_valid():
            messages.success(request, f"The search is kept as “{save.save().name}”.")
            return HttpResponseRedirect(_address(request, form.asked))
    return TemplateResponse(request, "audit/find.html", _context(request, form, save))


def _context(request: HttpRequest, form: FindForm, save: saved.SaveForm) -> dict[str, Any]:
    kept = list(saved.visible(request.user)[: saved.MOST])
    context = {
        **admin.site.each_context(request),
        "title": "Find",
        "form": form,
        "groups": [(title, [form[name] for name in names]) for title, names in GROUPS],
        "more_open": any(name in form.asked for _, names in GROUPS[1:] for name in names) or bool(form.errors),
        "asked": [(form[name].label, _told(form, name), _without(request, form, name)) for name in form.asked],
        "suggestions": suggestions(),
        "save": save,
        "kept": [(one, saved.may_delete(request.user, one), one.owner_id == request.user.pk) for one in kept],
        "here": _address(request, form.asked),
    }
    return context | (_found(request, form) if form.is_valid() else {})


def _found(request: HttpRequest, form: FindForm) -> dict[str, Any]:
    search = form.search()
    noted(request, CeAccessLog.Kind.SEARCH, search=urlencode(form.asked))
    at = request.GET.get(CURSOR, "")
    cursor = Cursor.read(at)
    found = find(search, cursor, SIZE)
    return {
        "found": found,
        "lines": lines(found.matches, search.text),
        "of_conversations": search.kind == CONVERSATIONS,
        "strange_place": bool(at) and cursor is None,
        "further": at != "",
        "hints": hints(search) if not found.matches and not found.paused else [],
        **_ways(request, form, found),
    }


def _ways(request: HttpRequest, form: FindForm, found: Found) -> Mapping[str, str]:
    """Where the neighbours of a page are; blank where there is none."""

    def there(cursor: Cursor | None) -> str:
        return _address(request, {**form.asked, CURSOR: str(cursor)}) if cursor else ""

    return {
        "older": there(found.older),
        "newer": there(found.newer),
        "look_further": there(found.further),
        "newest": _address(request, form.asked),
    }


def _told(form: FindForm, name: str) -> str:
    """What was given in a field, in the words of its choices."""
    choices = dict(getattr(form.fields[name], "choices", ()))
    told = str(choices.get(form.asked[name], form.asked[name]))
    return told.replace("T", " ") if name in TIMES else told


def _without(request: HttpRequest, form: FindForm, name: str) -> str:
    """The search without a field. The row and its table go together."""
    gone = {"table", "row"} if name in ("table", "row") else {name}
    return _address(request, {key: text for key, text in form.asked.items() if key not in gone})


def _address(request: HttpRequest, asked: Mapping[str, str]) -> str:
    return f"{request.path}?{urlencode(asked)}" if asked else request.path


def _delete(request: HttpRequest, form: FindForm) -> HttpResponse:
    gone = saved.delete(request.user, request.POST["delete"])
    if gone:
        messages.success(request, f"The search “{gone.name}” is deleted.")
    else:
        messages.error(request, "That search is not there any more, or somebody else's.")
    return HttpResponseRedirect(_address(request, form.asked))
