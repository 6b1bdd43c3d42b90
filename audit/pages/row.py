"""A configuration row as it stood on the release of a turn, beside today's; and what changed between two turns."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.models import CeAccessLog, CeTurnRow
from audit.pages import addresses
from audit.pages.reading import LARGE
from convengine import conf
from convengine.sessions.models import CeConversationHistory


def show(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The row that `?table=` and `?row=` name. Rows that are gone are shown as they were."""
    rows = conf.load("THEN_AND_NOW")
    table, pk = request.GET.get("table", ""), request.GET.get("row", "")
    record = _record(model_admin, request, conversation_id, turn_no)
    try:
        right = rows.right_to_read(table)
    except KeyError:
        raise Http404("There is no such table of the configuration.") from None
    if not request.user.has_perm(right):
        raise PermissionDenied
    noted(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    found = rows.then_and_now(table, pk, record.config_version)
    if found is None:
        raise Http404("There is no such row.")
    roles = CeTurnRow.objects.filter(turn_id=record.turn_id, table_name=table, row_pk=pk)
    context = _context(model_admin, request, record, f"{found.name} as it was") | {
        "title": f"{found.name} in turn {turn_no}",
        "row": found,
        "roles": [role.replace("_", " ").lower() for role in roles.order_by("id").values_list("role", flat=True)[:1]],
    }
    return TemplateResponse(request, "audit/row.html", context)


def between(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The releases between the turn that `?since=` names and this one, each with what it changed."""
    record = _record(model_admin, request, conversation_id, turn_no)
    if not request.user.has_perm("config_admin.view_cerelease"):
        raise PermissionDenied
    since = request.GET.get("since", "")
    earlier = _record(model_admin, request, conversation_id, int(since)) if _is_number(since) else None
    if earlier is None:
        raise Http404("Say since which turn: ?since=1.")
    noted(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    first, last = sorted((earlier, record), key=lambda one: one.turn_no)
    behind = request.GET.get("behind", "")
    low, high = sorted((first.config_version, last.config_version))
    releases, more = conf.load("THEN_AND_NOW").between(low, high, int(behind) if _is_number(behind) else None)
    context = _context(model_admin, request, last, f"Changed since turn {first.turn_no}") | {
        "title": f"Between turn {first.turn_no} and turn {last.turn_no}",
        "first": first,
        "releases": releases,
        "back": first.config_version > last.config_version,
        "older_url": f"?since={since}&behind={more}" if more else "",
        "newest_url": f"?since={since}" if behind else "",
    }
    return TemplateResponse(request, "audit/between.html", context)


def _record(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> CeConversationHistory:
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    found = CeConversationHistory.objects.filter(conversation_id=conversation_id, turn_no=turn_no).defer(*LARGE).first()
    if found is None:
        raise Http404(f"This conversation has no turn {turn_no}.")
    return found


def _context(model_admin: Any, request: HttpRequest, record: CeConversationHistory, page: str) -> dict[str, Any]:
    return {
        **addresses.placed(model_admin, request, page, record.conversation_id, record.turn_no),
        "record": record,
        "turn_url": addresses.turn_url(record.conversation_id, record.turn_no),
    }


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10
