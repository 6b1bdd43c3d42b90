"""Admin pages of the record: audit events, the rows that decided, model calls; all to read."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import path
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter

from audit.access.admin import AccessLogAdmin
from audit.feedback.admin import FeedbackAdmin
from audit.finding.page import find_page
from audit.finding.sources import literal
from audit.models import CeAudit, CeLlmCallLog, CeTurnRow
from audit.models.trail import IN_INDEX
from audit.pages.urls import turn_pages
from audit.talk import talk
from audit.trust.admin import ErasureAdmin
from audit.trust.page import trust_pages
from convengine.domain.stages import COMMON, Stage, is_error
from convengine.read_only import ByConversation
from convengine.record_columns import (
    json_column,
    labelled,
    link,
    release_link,
    row_link,
    shortened,
    text_column,
)

#: Pages that stand with what they are about.
__all__ = ["AccessLogAdmin", "AuditAdmin", "ErasureAdmin", "FeedbackAdmin", "ModelCallAdmin", "TurnRowAdmin"]


class StageFilter(DropdownFilter):
    """One stage, from whichever step it came: found by an index, or soon, as nearly every turn has one."""

    title = "stage"
    parameter_name = "of_stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        """Every stage there is."""
        return [(stage.value, stage.value) for stage in sorted(Stage)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Events of the stage, with or without a source."""
        name = self.value()
        if not name:
            return queryset
        found = queryset.filter(Q(stage=name) | Q(stage__startswith=f"{name} ("))
        return found if name in COMMON else found.filter(literal(IN_INDEX))


@admin.register(CeAudit)
class AuditAdmin(ByConversation):
    """Audit events: the newest first, those of one turn in their order."""

    list_display = ("stage_label", "turn", "conversation_page", "payload_beginning", "release", "created_at")
    list_filter = (StageFilter,)
    fields = ("stage", "conversation_page", "turn", "seq", "release", "created_at", "payload")
    readonly_fields = ("conversation_page", "turn", "release", "payload")
    payload = json_column("payload_json", "payload")

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, those that try conversations and find them, and those of past turns."""
        return [
            path("talk/", self.admin_site.admin_view(talk), name="audit_ceaudit_talk"),
            path("find/", self.admin_site.admin_view(find_page), name="audit_ceaudit_find"),
            *turn_pages(self),
            *trust_pages(self),
            *super().get_urls(),
        ]

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The order that an index gives for what is asked."""
        if "turn_no" in request.GET:
            return ("seq", "audit_id")
        stage = request.GET.get(StageFilter.parameter_name)
        return ("-created_at", "-audit_id") if stage and stage not in COMMON else ("-audit_id",)

    @labelled({"error": "danger", "plain": "default"}, "stage")
    def stage_label(self, row: CeAudit) -> tuple[str, str]:
        """The stage; those that tell of a failure stand out."""
        return "error" if is_error(row.stage) else "plain", row.stage

    @admin.display(description="turn")
    def turn(self, row: CeAudit) -> SafeString | str:
        """A link to the turn and the place of the event in it."""
        if row.turn_id is None:
            return "outside of turns"
        place = f"{row.turn_no}.{row.seq}"
        query = f"?event={row.seq}#e{row.turn_no}-{row.seq}"
        return link("audit_ceaudit_turn", place, row.conversation_id, row.turn_no, query=query)

    @admin.display(description="payload")
    def payload_beginning(self, row: CeAudit) -> str:
        """The beginning of what the event says."""
        said = {name: value for name, value in row.payload_json.items() if name != "_meta"}
        return shortened(json.dumps(said, ensure_ascii=False) if said else "", 70)

    @admin.display(description="configuration")
    def release(self, row: CeAudit) -> SafeString:
        """The release that the turn ran on."""
        return release_link(row.config_version)


@admin.register(CeTurnRow)
class TurnRowAdmin(ByConversation):
    """Configuration rows that decided something."""

    list_display = ("role", "row", "turn", "created_at")
    search_fields = ("turn_id",)
    search_help_text = "Turn id"
    fields = ("row", "role", "turn", "created_at")
    readonly_fields = ("row", "turn")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The order that an index gives for what is asked."""
        return ("-created_at", "-id") if "row_pk" in request.GET else ("-id",)

    @admin.display(description="row")
    def row(self, row: CeTurnRow) -> SafeString:
        """A link to the row as it is now."""
        return row_link(row.table_name, row.row_pk)

    @admin.display(description="turn")
    def turn(self, row: CeTurnRow) -> SafeString:
        """A link to the turn."""
        return link("ce_sessions_ceconversationhistory_changelist", row.turn_id, query=f"?turn_id={row.turn_id}")


@admin.register(CeLlmCallLog)
class ModelCallAdmin(ByConversation):
    """Calls to models, failed ones too."""

    list_display = (
        "asked_for",
        "outcome",
        "model",
        "said",
        "latency_ms",
        "tokens",
        "cost",
        "created_at",
        "conversation",
    )
    fieldsets = (
        (None, {"fields": ("purpose", "conversation_page", "turn_no", "attempt", "created_at", "release")}),
        ("Model", {"fields": ("provider", "model", "temperature", "latency_ms", "tokens", "cost")}),
        ("Asked and answered", {"fields": ("prompt", "context", "answer", "success", "error_message")}),
        ("Where", {"fields": ("intent_code", "state_code", "template_id", "turn_id")}),
    )
    readonly_fields = ("conversation_page", "release", "prompt", "context", "answer", "tokens")
    prompt = text_column("prompt_text", "prompt")
    context = text_column("user_context", "context")
    answer = text_column("response_text", "answer")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Those of one turn in their order; else the newest first."""
        return ("llm_call_id",) if "turn_no" in request.GET else ("-llm_call_id",)

    @admin.display(description="conversation")
    def conversation(self, row: CeLlmCallLog) -> SafeString:
        """A link to the conversation, by the beginning of its id: a list of calls is wide enough without."""
        beginning = f"{str(row.conversation_id)[:8]}…"
        return link("ce_sessions_ceconversation_change", beginning, row.conversation_id)

    @admin.display(description="answer or error")
    def said(self, row: CeLlmCallLog) -> str:
        """The beginning of the answer, or what went wrong."""
        return shortened((row.response_text if row.success else row.error_message) or "", 60)

    @admin.display(description="purpose")
    def asked_for(self, row: CeLlmCallLog) -> str:
        """What the model was asked for, and in which turn."""
        again = f" · try {row.attempt}" if (row.attempt or 1) > 1 else ""
        return f"{row.purpose or 'Call'} · turn {row.turn_no or '-'}{again}"

    @admin.display(description="tokens in / out")
    def tokens(self, row: CeLlmCallLog) -> str:
        """How many tokens went each way, as the service counted them."""
        found = (row.input_tokens, row.output_tokens)
        return "-" if found == (None, None) else " / ".join("-" if one is None else str(one) for one in found)

    @labelled({"ok": "success", "failed": "danger"}, "outcome")
    def outcome(self, row: CeLlmCallLog) -> tuple[str, str]:
        """Whether it answered."""
        return ("ok", "ok") if row.success else ("failed", "failed")

    @admin.display(description="configuration")
    def release(self, row: CeLlmCallLog) -> SafeString:
        """The release that the turn ran on."""
        return release_link(row.config_version)
