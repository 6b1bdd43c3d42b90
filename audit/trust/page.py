"""Pages of trust in a conversation: is it as it was written; take it along; print it; erase it."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.views.decorators.http import require_GET

from audit.access.noting import noted
from audit.chain import verify
from audit.chain.findings import CODES
from audit.erasing.erase import Who, conversations_of, erase_conversation, erase_participant
from audit.exporting.conversation import as_json, as_lines, as_table
from audit.models import CeAccessLog, CeErasure
from audit.pages import addresses
from convengine.errors import TurnInProgress
from convengine.record_columns import spoken
from convengine.sessions.models import CeConversation, CeConversationHistory

ERASE = "audit.erase_person"
#: Turns on one printed page of the browser.
PRINTED = 500
#: Beyond so many turns the job takes out what was said; nobody waits for it.
_AT_ONCE = 300
_FORMS: dict[str, tuple[Callable[[CeConversation], Iterator[str]], str]] = {
    "json": (as_json, "application/json"),
    "ndjson": (as_lines, "application/x-ndjson"),
    "csv": (as_table, "text/csv; charset=utf-8"),
}


class EraseForm(forms.Form):
    """Whose, and why."""

    scope = forms.ChoiceField(
        choices=(("conversation", "conversation"), ("participant", "participant")),
        error_messages={"required": "Say what is to be erased."},
    )
    reason = forms.CharField(
        max_length=2000, error_messages={"required": "Say why: whoever reads this later must be able to follow it."}
    )
    sure = forms.BooleanField(error_messages={"required": "Say that you are sure: nothing of it can be brought back."})


def trust(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Whether a conversation is as it was written, and where not."""
    row = _conversation(model_admin, request, conversation_id)
    noted(request, CeAccessLog.Kind.EVENTS, conversation_id)
    report = verify.one(conversation_id)
    context = {
        **_context(model_admin, request, row, "Trust"),
        "report": report,
        "findings": [(one, CODES[one.code]) for one in report.findings[:200]],
        "erasures": CeErasure.objects.filter(conversation_id=conversation_id).order_by("-erasure_id"),
        "may_erase": request.user.has_perm(ERASE),
    }
    return TemplateResponse(request, "audit/trust.html", context)


def export(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponseBase:
    """The file: `?format=` json, ndjson or csv."""
    row = _conversation(model_admin, request, conversation_id)
    form = request.GET.get("format", "json")
    if form not in _FORMS:
        raise Http404(f"There is no such form; there are {', '.join(_FORMS)}.")
    noted(request, CeAccessLog.Kind.EXPORT, conversation_id)
    make, kind = _FORMS[form]
    name = f'attachment; filename="conversation-{conversation_id}.{form}"'
    return StreamingHttpResponse(make(row), content_type=kind, headers={"Content-Disposition": name})


def printable(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """What was said, on paper: `?from=` a turn."""
    row = _conversation(model_admin, request, conversation_id)
    noted(request, CeAccessLog.Kind.PRINT, conversation_id)
    given = request.GET.get("from", "")
    first = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 1
    records = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__gte=first)
    found = list(records.defer("recording").order_by("turn_no")[: PRINTED + 1])
    turns = [(one, spoken(one.assistant_output)) for one in found[:PRINTED]]
    more = found[PRINTED].turn_no if len(found) > PRINTED else None
    context = {**_context(model_admin, request, row, "On paper"), "turns": turns, "more": more}
    return TemplateResponse(request, "audit/print.html", context)


def erase(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Take a person's data out, with a reason."""
    if not request.user.has_perm(ERASE):
        raise PermissionDenied
    row = _conversation(model_admin, request, conversation_id)
    form = EraseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            _erase(row, form.cleaned_data["scope"], Who(request.user.get_username(), form.cleaned_data["reason"]))
        except TurnInProgress:
            form.add_error(None, "A turn runs in one of the conversations: wait until it is over, and send this again.")
        else:
            messages.success(request, "Erased. The chain stays whole, and the erasure is recorded.")
            return HttpResponseRedirect(reverse("admin:audit_ceaudit_trust", args=[conversation_id]))
    others = conversations_of(row.remote_jid, row.workspace_id, row.channel) if _is_known(row) else []
    context = {**_context(model_admin, request, row, "Erase"), "form": form, "others": len(others)}
    return TemplateResponse(request, "audit/erase.html", context, status=400 if form.errors else 200)


def trust_pages(model_admin: Any) -> list[Any]:
    """Their patterns, behind the admin's own check of who may come in."""
    view = model_admin.admin_site.admin_view
    pages = (("trust", trust), ("export", export), ("print", printable))
    reading = [
        path(
            f"<uuid:conversation_id>/{name}/",
            view(require_GET(partial(page, model_admin))),
            name=f"audit_ceaudit_{name}",
        )
        for name, page in pages
    ]
    erasing = view(partial(erase, model_admin))
    return [*reading, path("<uuid:conversation_id>/erase/", erasing, name="audit_ceaudit_erase")]


def _erase(row: CeConversation, scope: str, who: Who) -> None:
    """At once where it is little; else it is declared, and the job takes the rest out."""
    if scope == "participant" and _is_known(row):
        work = erase_participant(row.remote_jid, who, row.workspace_id, row.channel)
        keys = conversations_of(row.remote_jid, row.workspace_id, row.channel)
    else:
        work, keys = erase_conversation(row.pk, who), [row.pk]
    if CeConversationHistory.objects.filter(conversation_id__in=keys)[: _AT_ONCE + 1].count() <= _AT_ONCE:
        for _ in work:
            pass
        return
    for counts in work:
        if "turns" in counts:
            return


def _is_known(row: CeConversation) -> bool:
    """True for a participant with a name of their own: on the plain turn API that is the conversation's id."""
    return row.remote_jid != str(row.pk)


def _conversation(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> CeConversation:
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    row = CeConversation.objects.filter(pk=conversation_id).first()
    if row is None:
        raise Http404("There is no such conversation.")
    return row


def _context(model_admin: Any, request: HttpRequest, row: CeConversation, title: str) -> dict[str, Any]:
    return {
        **addresses.placed(model_admin, request, title, row),
        "title": f"{title} {row.pk}",
        "row": row,
        "known": _is_known(row),
        "timeline_url": addresses.timeline_url(row.pk),
    }
