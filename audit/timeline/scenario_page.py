"""Download a conversation, or some of its turns, as a scenario file."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access_log.write import log_access
from audit.export.scenario.document import build_scenario, dump_yaml, scenario_name
from audit.export.scenario.recorded_turns import NotExportable
from audit.models import CeAccessLog
from audit.timeline import addresses
from convengine.server.sessions.models import CeConversation


def download_scenario(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The file, or why it is impossible. `first` and `last` are numbers of turns."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    conversation = CeConversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404("This conversation does not exist.")
    log_access(request, CeAccessLog.Kind.SCENARIO, conversation_id)
    try:
        first, last = (_read_turn_number(request, end) for end in ("first", "last"))
        document = build_scenario(conversation, first, last)
    except NotExportable as refused:
        context = {
            **addresses.page_context(model_admin, request, "Save as a scenario file", conversation),
            "title": "Save as a scenario file",
            "wrong": str(refused),
            "timeline_url": addresses.timeline_url(conversation_id),
            "given": request.GET,
        }
        return TemplateResponse(request, "audit/save.html", context)
    return HttpResponse(
        dump_yaml(document),
        content_type="application/yaml",
        headers={"Content-Disposition": f'attachment; filename="{scenario_name(conversation, first, last)}.yaml"'},
    )


def _read_turn_number(request: HttpRequest, end: str) -> int | None:
    given = request.GET.get(end, "").strip()
    if not given:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise NotExportable(f"“{given[:40]}” is not a turn number. Enter a whole number such as 3.")
    return int(given)
