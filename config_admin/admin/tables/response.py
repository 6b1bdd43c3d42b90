"""Admin of `ce_response` (tables 3.3)."""

from collections.abc import Collection, Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.admin.editing.pickers import words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.models import CeResponse
from config_admin.validation.checks.response import last_fallback_message
from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from config_admin.validation.relations import scope_key
from config_admin.validation.world import World
from convengine import conf
from convengine.domain import rows
from convengine.domain.enums import OutputFormat, ResponseType
from convengine.domain.scope import UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.record_columns import shortened


@admin.register(CeResponse)
class ResponseAdmin(ScopedAdmin):
    """What the user gets in a state. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Answer", ("response_type", "output_format", "exact_text", "derivation_hint", "json_schema")),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {**SCOPE, "response_type": words(ResponseType), "output_format": words(OutputFormat)}
    code_fields = ("exact_text", "derivation_hint", "json_schema")
    list_display = ("answer", "in_use", "intent_code", "state_code", "response_type", "output_format", "priority")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("output_format", ChoicesDropdownFilter)),
    )
    search_fields = ("exact_text", "derivation_hint", "description")
    ordering = (*any_last("state_code"), *any_last("intent_code"), "priority", "response_id")

    @admin.display(description="answer")
    def answer(self, row: CeResponse) -> str:
        """The beginning of the text, or of what the model is to keep in mind."""
        return f"{row.pk} · {shortened(row.exact_text or row.derivation_hint or row.description, 60)}"

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """The form of a stored row leads to what people thought of its answers."""
        page = super().render_change_form(request, context, *args, **options)
        stored = context.get("original")
        if stored is not None and request.user.has_perm("audit.view_cemcpuserfeedback"):
            page.context_data["rated"] = conf.load("RATED")("ce_response", stored.pk)
        return page

    def check_together(self, snapshot: Snapshot, leaving: Collection[Any]) -> Sequence[Finding]:
        """The last answers for UNKNOWN / UNKNOWN do not leave together either."""
        fallbacks = [row for row in snapshot.enabled(rows.Response) if scope_key(row) == (UNKNOWN, UNKNOWN)]
        if len(fallbacks) < 2 or not {row.pk for row in fallbacks} <= set(leaving):
            return ()
        return [last_fallback_message(Draft(fallbacks[0], snapshot, World()))]
