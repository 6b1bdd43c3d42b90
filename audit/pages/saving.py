"""A conversation, or some of its turns, as a scenario file to take along."""

import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.access.noting import noted
from audit.models import CeAccessLog
from audit.pages import addresses
from audit.saving.recorded import NotSavable
from audit.saving.save import name, scenario, text
from convengine.sessions.models import CeConversation


def save(model_admin: Any, request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The file, or why there is none. `first` and `last` are numbers of turns."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    conversation = CeConversation.objects.filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404("There is no such conversation.")
    noted(request, CeAccessLog.Kind.SCENARIO, conversation_id)
    try:
        first, last = (_number(request, end) for end in ("first", "last"))
        document = scenario(conversation, first, last)
    except NotSavable as refused:
        context = {
            **addresses.placed(model_admin, request, "Save as a scenario file", conversation),
            "title": "Save as a scenario file",
            "wrong": str(refused),
            "timeline_url": addresses.timeline_url(conversation_id),
            "given": request.GET,
        }
        return TemplateResponse(request, "audit/save.html", context)
    return HttpResponse(
        text(document),
        content_type="application/yaml",
        headers={"Content-Disposition": f'attachment; filename="{name(conversation, first, last)}.yaml"'},
    )


def _number(request: HttpRequest, end: str) -> int | None:
    given = request.GET.get(end, "").strip()
    if not given:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) < 10):
        raise NotSavable(f"“{given[:40]}” is no number of a turn.")
    return int(given)
