"""The pages *Trust and export*: verify, export, print and erase a conversation."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse

from audit import addresses
from audit.access_log.write import log_access
from audit.erasure.erase import EraseOrder, erase_conversation, erase_participant, find_conversations
from audit.export.conversation import export_csv, export_json, export_lines, write_customer_copy
from audit.export.evidence.collect import EvidenceOrder, collect_conversation
from audit.export.view import answer_file
from audit.integrity import verify
from audit.integrity.findings import CODES, COVERED, NO_ROOT, NOT_COVERED
from audit.models import CeAccessLog, CeErasure, CeLedger
from convengine.engine.errors import TurnInProgress
from convengine.engine.text.whole_numbers import INTEGER, parse_whole_number
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.interfaces.stored_tests import stored_tests
from convengine.server.sessions.models import CeConversation, CeConversationHistory

ERASE = "audit.erase_person"
#: Turns per printed page.
PRINTED = 500
#: Above this number of turns, the job erases in the background.
_AT_ONCE = 300
_FORMATS: dict[str, tuple[Callable[[CeConversation], Iterator[str]], str]] = {
    "json": (export_json, "application/json"),
    "ndjson": (export_lines, "application/x-ndjson"),
    "csv": (export_csv, "text/csv; charset=utf-8"),
}


class EraseForm(forms.Form):
    """Whose data, and why."""

    scope = forms.ChoiceField(
        choices=(("conversation", "conversation"), ("participant", "participant")),
        error_messages={"required": "Choose what to erase."},
    )
    reason = forms.CharField(max_length=2000, error_messages={"required": "Enter a reason. It is recorded."})
    sure = forms.BooleanField(error_messages={"required": "Confirm that you understand that this cannot be undone."})


@page("<uuid:conversation_id>/trust/", of="audit.CeAudit", methods=["GET"])
def trust_page(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Whether a conversation was changed, and where."""
    row = _get_conversation(model_admin, request, conversation_id)
    log_access(request, CeAccessLog.Kind.EVENTS, conversation_id)
    report = verify.verify_conversation(conversation_id)
    context = {
        **_page_context(model_admin, request, row, "Integrity"),
        "report": report,
        "findings": [(finding, CODES[finding.code]) for finding in report.findings[:200]],
        "root": CeLedger.find_newest_root(),
        "no_root": NO_ROOT,
        "covered": COVERED,
        "not_covered": NOT_COVERED,
        "tests": stored_tests().list_titles([conversation_id]),
        "erasures": CeErasure.objects.filter(conversation_id=conversation_id).order_by("-erasure_id"),
        "may_erase": request.user.has_perm(ERASE),
    }
    return TemplateResponse(request, "audit/trust.html", context)


@page("<uuid:conversation_id>/export/", of="audit.CeAudit", methods=["GET"])
def download_export(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponseBase:
    """The file: `?format=` json, ndjson or csv."""
    row = _get_conversation(model_admin, request, conversation_id)
    file_format = request.GET.get("format", "json")
    if file_format not in _FORMATS:
        raise Http404(f"Unknown format. The formats are {', '.join(_FORMATS)}.")
    log_access(request, CeAccessLog.Kind.EXPORT, conversation_id)
    export, content_type = _FORMATS[file_format]
    disposition = f'attachment; filename="conversation-{conversation_id}.{file_format}"'
    return StreamingHttpResponse(export(row), content_type=content_type, headers={"Content-Disposition": disposition})


@page("<uuid:conversation_id>/evidence/", of="audit.CeAudit", methods=["GET"])
def download_evidence(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The evidence file: `?from=` a turn, and `?to=` one."""
    row = _get_conversation(model_admin, request, conversation_id)
    log_access(request, CeAccessLog.Kind.EVIDENCE, conversation_id)
    order = EvidenceOrder(request.user.get_username(), request.user.has_perm)
    first, last = _read_turn(request, "from", 1), _read_turn(request, "to", 2**31 - 1)
    return answer_file(collect_conversation(row, order, first, last), f"evidence-{conversation_id}")


@page("<uuid:conversation_id>/print/", of="audit.CeAudit", methods=["GET"])
def print_page(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The printable page: `?from=` a turn."""
    row = _get_conversation(model_admin, request, conversation_id)
    log_access(request, CeAccessLog.Kind.PRINT, conversation_id)
    first = _read_turn(request, "from", 1)
    records = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__gte=first)
    fetched = list(records.order_by("turn_no")[: PRINTED + 1])
    turns = [(turn, answer_text(turn.assistant_output)) for turn in fetched[:PRINTED]]
    more = fetched[PRINTED].turn_no if len(fetched) > PRINTED else None
    context = {**_page_context(model_admin, request, row, "Printable page"), "turns": turns, "more": more}
    return TemplateResponse(request, "audit/print.html", context)


@page("<uuid:conversation_id>/customer/", of="audit.CeAudit", methods=["GET"])
def customer_page(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The conversation for the customer, to copy: `?from=` a turn, and `?to=` one."""
    row = _get_conversation(model_admin, request, conversation_id)
    log_access(request, CeAccessLog.Kind.EXPORT, conversation_id)
    numbers = (_read_turn(request, "from", 1), _read_turn(request, "to", 2**31 - 1))
    records = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no__range=numbers)
    fetched = list(records.order_by("turn_no")[: PRINTED + 1])
    context = {
        **_page_context(model_admin, request, row, "Copy for the customer"),
        "text": write_customer_copy(fetched[:PRINTED]),
        "more": fetched[PRINTED].turn_no if len(fetched) > PRINTED else None,
    }
    return TemplateResponse(request, "audit/customer_copy.html", context)


def _read_turn(request: HttpRequest, name: str, default: int) -> int:
    """The turn number in a query parameter; `default` if it is absent or no number."""
    number = parse_whole_number(request.GET.get(name, ""), INTEGER)
    return default if number is None else number


@page("<uuid:conversation_id>/erase/", of="audit.CeAudit")
def erase_page(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Erase a person's data, with a reason."""
    require_right(request, ERASE)
    row = _get_conversation(model_admin, request, conversation_id)
    form = EraseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            keys, undecided = _erase_data(
                row, form.cleaned_data["scope"], EraseOrder(request.user.get_username(), form.cleaned_data["reason"])
            )
        except TurnInProgress:
            form.add_error(
                None, "A turn is running in one of the conversations. Wait until it has ended and try again."
            )
        else:
            done = "Erased. The integrity chain is still valid, and the erasure is recorded."
            tests = stored_tests().list_titles(keys)
            messages.success(request, f"{done} Tests that are empty now: {', '.join(tests)}." if tests else done)
            if undecided:
                text = f"{undecided} searches or tests may be about this person, too. The ledger lists them: decide."
                messages.warning(request, text)
            return HttpResponseRedirect(reverse("admin:audit_ceaudit_trust", args=[conversation_id]))
    others = find_conversations(row.remote_jid, row.workspace_id, row.channel) if _has_participant(row) else []
    context = {
        **_page_context(model_admin, request, row, "Erase"),
        "form": form,
        "others": len(others),
        "tests": stored_tests().list_titles([row.pk]),
        "other_tests": stored_tests().list_titles([key for key in others if key != row.pk]),
    }
    return TemplateResponse(request, "audit/erase.html", context, status=400 if form.errors else 200)


def _erase_data(row: CeConversation, scope: str, who: EraseOrder) -> tuple[list[uuid.UUID], int]:
    """Erase a conversation, or all of its participant: a little at once, more only as far as to declare the erasures.

    The job does the rest of them. Returns the conversations, and how many rows a person must decide so far.
    Raises TurnInProgress.
    """
    if scope == "participant" and _has_participant(row):
        work = erase_participant(row.remote_jid, who, row.workspace_id, row.channel)
        keys = find_conversations(row.remote_jid, row.workspace_id, row.channel)
    else:
        work, keys = erase_conversation(row.pk, who), [row.pk]
    if CeConversationHistory.objects.filter(conversation_id__in=keys)[: _AT_ONCE + 1].count() <= _AT_ONCE:
        return keys, sum(counts.get("undecided", 0) for counts in work)
    undecided = 0
    for counts in work:
        undecided += counts.get("undecided", 0)
        if "turns" in counts:
            break
    return keys, undecided


def _has_participant(row: CeConversation) -> bool:
    """True for a participant with a name of their own. On the plain turn API, the conversation's id stands for it."""
    return row.remote_jid != str(row.pk)


def _get_conversation(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> CeConversation:
    """The conversation of a page. Raises PermissionDenied for users who may not view turns, and Http404."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    row = CeConversation.objects.filter(pk=conversation_id).first()
    if row is None:
        raise Http404("This conversation does not exist.")
    return row


def _page_context(model_admin: Any, request: HttpRequest, row: CeConversation, title: str) -> dict[str, Any]:
    """What the templates of all these pages need. The title of the page gets the id of the conversation."""
    return {
        **addresses.page_context(model_admin, request, title, row),
        "title": f"{title} {row.pk}",
        "row": row,
        "known": _has_participant(row),
        "timeline_url": addresses.timeline_url(row.pk),
    }
