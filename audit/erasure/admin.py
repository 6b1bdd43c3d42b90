"""The list of erasures, and the page that removes the sample week of the demonstration."""

from pathlib import Path

from django.conf import settings
from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse

from audit.models import CeErasure, CeTurnCount
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import ProofColumns, excerpt_column, value_column
from convengine.server.deployment.folders import UNFINISHED_WEEK
from convengine.server.sessions.models import SAMPLE, CeConversation
from convengine.server.sessions.old_turns import SESSIONS, remove_conversations


@admin.register(CeErasure)
class ErasureAdmin(ProofColumns, ByConversation):
    """Erasures, newest first."""

    is_of_people = False
    list_display = ("time", "by", "reason_beginning", "conversation_page", "last_turn", "standing")
    fields = ("time", "by", "reason", "conversation_page", "last_turn", "last_addition", "validity")
    readonly_fields = ("time", "conversation_page", "last_turn", "validity")
    ordering = ("-erasure_id",)
    time = value_column("created_at", "time")
    last_turn = value_column("last_turn_no", "last turn")
    reason_beginning = excerpt_column("reason", "reason")


@page("sample/", of="audit.CeAudit", right="audit.erase_person", methods=("GET", "POST"))
def sample_page(request: HttpRequest) -> HttpResponse:
    """Say what is removed, and remove it: the conversations, and what was counted of them."""
    if request.method == "POST":
        count = _remove_sample(request.user.get_username())
        messages.success(request, f"{count} sample conversations were removed, with their counts.")
        return HttpResponseRedirect(reverse("admin:index"))
    count = CeConversation.objects.filter(channel=SAMPLE).count()
    return TemplateResponse(request, "audit/sample.html", {"title": "Sample week", "count": count})


def _remove_sample(by: str) -> int:
    """Remove the sample week, and say how many conversations it had. The ledger says who removed them.

    If it is not finished, no start of the demonstration plays the rest. The inbox forgets its messages when its job
    runs.
    """
    (Path(settings.VAR_DIR) / UNFINISHED_WEEK).unlink(missing_ok=True)
    count = 0
    while True:
        with transaction.atomic():
            rows = CeConversation.objects.filter(channel=SAMPLE, lease_token=None).order_by("pk")
            keys = list(rows.values_list("pk", flat=True)[:SESSIONS])
            remove_conversations(keys, by=by, reason="the demonstration's sample week")
        if not keys:
            break
        count += len(keys)
    CeTurnCount.objects.filter(channel=SAMPLE).delete()
    return count
