"""Admin of `ce_response`."""

from collections.abc import Collection, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.response.model import CeResponse
from config_admin.validation.common import list_fallbacks, report_last_fallback
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.world import World
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.turn_reports import turn_reports


@admin.register(CeResponse)
class ResponseAdmin(ScopedAdmin):
    """The texts for users, by state. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Answer", ("response_type", "output_format", "exact_text", "derivation_hint", "json_schema")),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("answer", "in_use", "intent_code", "state_code", "response_type", "output_format", "priority")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("output_format", ChoicesDropdownFilter)),
    )
    search_fields = ("exact_text", "derivation_hint", "description")
    ordering = (*any_last("state_code"), *any_last("intent_code"), "priority", "response_id")

    @admin.display(description="answer")
    def answer(self, row: CeResponse) -> str:
        """The number, and the description or the beginning of the text."""
        return str(row)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """The page of a stored row links to the feedback on its answers."""
        page = super().render_change_form(request, context, *args, **options)
        stored = context.get("original")
        if stored is not None and request.user.has_perm("audit.view_cemcpuserfeedback"):
            page.context_data["rated"] = turn_reports().rate_row("ce_response", stored.pk)
        return page

    def check_together(self, snapshot: Snapshot, leaving: Collection[Any]) -> Sequence[Finding]:
        """The last answers for UNKNOWN / UNKNOWN may not be removed together either."""
        fallbacks = list_fallbacks(snapshot)
        if len(fallbacks) < 2 or not {row.pk for row in fallbacks} <= set(leaving):
            return ()
        return [report_last_fallback(Draft(fallbacks[0], snapshot, World()))]
