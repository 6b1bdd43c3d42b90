"""A configuration row as it was in a turn, beside the present one; and the changes between two turns."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit import addresses
from audit.access_log.write import log_access
from audit.addresses import OF_A_TURN
from audit.models import CeAccessLog, CeTurnIndex
from audit.timeline.read_turn import read_record
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import VIEW, page
from convengine.server.admin_site.record_columns import find_row_name
from convengine.server.interfaces.release_history import release_history
from convengine.server.sessions.models import CeConversationHistory


@page(f"{OF_A_TURN}row/", of="audit.CeAudit", right=VIEW, name="row", methods=["GET"], from_replica=True)
def show_row(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int) -> HttpResponse:
    """The row of `?table=` and `?row=`. Deleted rows are shown too."""
    rows = release_history()
    table, pk = request.GET.get("table", ""), request.GET.get("row", "")
    record = read_record(conversation_id, turn_no)
    try:
        right = rows.right_to_read(table)
    except KeyError:
        raise Http404("The configuration has no such table.") from None
    require_right(request, right)
    log_access(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    comparison = rows.then_and_now(table, pk, record.config_version)
    if comparison is None:
        raise Http404("This row does not exist.")
    roles = CeTurnIndex.objects.filter(turn_id=record.turn_id, kind=table, value=pk)
    context = _row_page_context(model_admin, request, record, f"{comparison.name} as it was") | {
        "title": f"{comparison.name} in turn {turn_no}",
        "row": comparison,
        "about": find_row_name(table, pk),
        "roles": [role.replace("_", " ").lower() for role in roles.order_by("id").values_list("role", flat=True)[:1]],
    }
    return TemplateResponse(request, "audit/row.html", context)


@page(f"{OF_A_TURN}between/", of="audit.CeAudit", right=VIEW, name="between", methods=["GET"], from_replica=True)
def show_releases_between(
    model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID, turn_no: int
) -> HttpResponse:
    """The releases between the turn of `?since=` and this one, with their changes."""
    record = read_record(conversation_id, turn_no)
    require_right(request, "config_admin.view_cerelease")
    since = addresses.read_number(request.GET.get("since", ""))
    if since is None:
        raise Http404("Name the first turn to compare: ?since=1.")
    earlier = read_record(conversation_id, since)
    log_access(request, CeAccessLog.Kind.AS_IT_WAS, conversation_id, turn_no)
    first, last = sorted((earlier, record), key=lambda turn: turn.turn_no)
    behind = addresses.read_number(request.GET.get("behind", ""))
    low, high = sorted((first.config_version, last.config_version))
    releases, more = release_history().between(low, high, behind)
    context = _row_page_context(model_admin, request, last, f"Changed since turn {first.turn_no}") | {
        "title": f"Between turn {first.turn_no} and turn {last.turn_no}",
        "first": first,
        "releases": releases,
        "back": first.config_version > last.config_version,
        "older_url": f"?since={since}&behind={more}" if more else "",
        "newest_url": f"?since={since}" if behind else "",
    }
    return TemplateResponse(request, "audit/between.html", context)


def _row_page_context(
    model_admin: Any, request: HttpRequest, record: CeConversationHistory, page: str
) -> dict[str, Any]:
    return {
        **addresses.page_context(model_admin, request, page, record.conversation_id, record.turn_no),
        "record": record,
        "turn_url": addresses.turn_url(record.conversation_id, record.turn_no),
    }
