"""Read-only admin pages of the record: audit events, deciding rows, model calls."""

import json
import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import DropdownFilter

from audit.models import CeAudit, CeLlmCallLog, CeTurnIndex
from audit.narration.decisions import role_label
from audit.record.events import IDS_PER_ROW
from audit.record.turn_index import has_stage
from convengine.engine.stages import COMMON, STAGES
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.labels import purpose_label
from convengine.engine.turn.stage import is_error, stage_label
from convengine.server.admin_site.pages import import_declarations
from convengine.server.admin_site.read_only import ByConversation, NewestFirst
from convengine.server.admin_site.record_columns import (
    badge_column,
    code_column,
    json_column,
    link,
    release_link,
    row_link,
    text_column,
    value_column,
)
from convengine.server.sessions.models import CeConversationHistory

import_declarations("audit")


class StageFilter(DropdownFilter):
    """Filters by stage, from any step; the index finds rare stages, and most turns have the others."""

    title = "stage"
    parameter_name = "of_stage"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [(str(stage), f"{stage.label} ({stage})") for stage in sorted(STAGES.values(), key=stage_label)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Events of the stage, with or without a source."""
        name = self.value()
        return queryset.filter(Q(stage=name) | Q(stage__startswith=f"{name} (")) if name else queryset


class NewestOfTurns(NewestFirst):
    """A list on a view of turns. The order of a view has no index, so that each page reads only some newest turns."""

    def _behind(self, pk: str | None) -> Any:
        """The rows after one in the list's order."""
        if "turn_no" in self.request.GET:
            return super()._behind(pk)
        before = parse_whole_number(pk or "")
        turns = self._select_turns()
        if before is not None:
            turns = turns.filter(history_id__lte=before // IDS_PER_ROW)
        entries: list[Any] = []
        for first, last in pairwise((0, *_WINDOWS)):
            window = list(turns.values_list("history_id", "turn_id", "conversation_id")[first:last])
            entries += self._read_window(window, before)
            if len(entries) > self.list_per_page or len(window) < last - first:
                break
        return entries

    def _select_turns(self) -> QuerySet[CeConversationHistory]:
        """The rows of the record that may have wanted rows, newest first."""
        query = self.request.GET
        turns = CeConversationHistory._base_manager.order_by("-history_id")
        key = _read_uuid(query.get("conversation_id") or query.get("q"))
        if key:
            turns = turns.filter(conversation_id=key)
        stage = query.get(StageFilter.parameter_name)
        if stage and stage not in COMMON:
            turns = turns.filter(has_stage(stage))
        return turns.filter(model_calls__gt=0) if self.model is CeLlmCallLog else turns

    def _read_window(self, window: Sequence[tuple[int, Any, Any]], before: int | None) -> list[Any]:
        if not window:
            return []
        name = self.model._meta.pk.name
        of_turns = Q(turn_id__in=[turn_id for _, turn_id, _ in window if turn_id])
        outside = Q(turn_id=None, conversation_id__in=[key for _, turn_id, key in window if not turn_id])
        lowest, highest = window[-1][0] * IDS_PER_ROW, (window[0][0] + 1) * IDS_PER_ROW
        highest = highest if before is None else min(highest, before)
        entries = self.queryset.filter(of_turns | outside, **{f"{name}__gte": lowest, f"{name}__lt": highest})
        return list(entries.order_by(f"-{name}")[: self.list_per_page + 1])


#: Turns that a page reads, at first and at most; then it may have fewer rows.
_WINDOWS = (4, 80, 2000)


def _read_uuid(text: str | None) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if text else None
    except ValueError:
        return None


class OfTurns(ByConversation):
    """Rows of a view of turns."""

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[NewestFirst]:
        return NewestOfTurns

    def find_row(self, request: HttpRequest, object_id: str, from_field: str | None) -> Any:
        """A row, found by the turn that its key names."""
        number = parse_whole_number(object_id)
        if number is None:
            return None
        turns = CeConversationHistory._base_manager.filter(pk=number // IDS_PER_ROW)
        turn = turns.values("turn_id", "conversation_id").first()
        return self.get_queryset(request).filter(pk=object_id, **turn).first() if turn else None


@admin.register(CeAudit)
class AuditAdmin(OfTurns):
    """Audit events: newest first, those of one turn in order."""

    list_display = ("event", "code", "turn", "conversation_page", "payload_beginning", "release", "time")
    list_filter = (StageFilter,)
    fields = ("name", "code", "conversation_page", "turn", "release", "time", "payload")
    readonly_fields = fields
    payload = json_column("payload_json", "payload")
    time = value_column("created_at", "time")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """An order that an index has for the filters."""
        if "turn_no" in request.GET:
            return ("seq", "audit_id")
        return ("-audit_id",)

    @badge_column({"error": "danger", "plain": "default"}, "event")
    def event(self, row: CeAudit) -> tuple[str, str]:
        """The stage in words; stages of failures stand out."""
        return "error" if is_error(row.stage) else "plain", self.name(row)

    @admin.display(description="event")
    def name(self, row: CeAudit) -> str:
        return stage_label(row.stage)

    @admin.display(description="stage")
    def code(self, row: CeAudit) -> SafeString:
        """The stage as rules and the API name it; a narrow column breaks it between words."""
        words = format_html_join(SafeString("_<wbr>"), "{}", ((word,) for word in row.stage.split("_")))
        return format_html('<small class="ce-id">{}</small>', words)

    @admin.display(description="turn")
    def turn(self, row: CeAudit) -> SafeString | str:
        """A link to the turn, with the number of the event."""
        if row.turn_id is None:
            return "outside turns"
        number = f"{row.turn_no}.{row.seq}"
        query = f"?event={row.seq}#e{row.turn_no}-{row.seq}"
        return link("audit_ceaudit_turn", number, row.conversation_id, row.turn_no, query=query)

    @admin.display(description="payload")
    def payload_beginning(self, row: CeAudit) -> str:
        payload = {name: value for name, value in row.payload_json.items() if name != "_meta"}
        return shorten_line(json.dumps(payload, ensure_ascii=False) if payload else "", 70)

    @admin.display(description="configuration")
    def release(self, row: CeAudit) -> SafeString:
        return release_link(row.config_version)


@admin.register(CeTurnIndex)
class TurnRowAdmin(ByConversation):
    """Configuration rows that decided something."""

    list_display = ("decision", "row", "turn", "time")
    search_fields = ("turn_id",)
    search_help_text = "Turn ID"
    fields = ("row", "decision", "turn", "time")
    readonly_fields = fields
    time = value_column("at", "time")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request).exclude(kind=CeTurnIndex.STAGE)
        return rows

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """An order that an index has for the filters."""
        return ("-at", "-id") if "value" in request.GET else ("-id",)

    @admin.display(description="decision")
    def decision(self, row: CeTurnIndex) -> str:
        return role_label(row.role)

    @admin.display(description="row")
    def row(self, row: CeTurnIndex) -> SafeString:
        return row_link(row.kind, row.value)

    @admin.display(description="turn")
    def turn(self, row: CeTurnIndex) -> SafeString:
        return link("ce_sessions_ceconversationhistory_changelist", row.turn_id, query=f"?turn_id={row.turn_id}")


@admin.register(CeLlmCallLog)
class ModelCallAdmin(OfTurns):
    """Calls to models, including failed ones."""

    list_display = (
        "asked_for",
        "outcome",
        "model",
        "answer_excerpt",
        "latency",
        "tokens",
        "cost",
        "time",
        "conversation",
    )
    fieldsets = (
        (None, {"fields": ("asked_for", "conversation_page", "time", "release")}),
        ("Model", {"fields": ("provider", "model", "temperature", "latency", "tokens", "cost")}),
        ("Prompt and response", {"fields": ("prompt", "context", "answer", "success", "error_message")}),
        ("Where", {"fields": ("intent", "state", "template", "turn")}),
    )
    readonly_fields = (
        *("asked_for", "conversation_page", "time", "release", "latency", "tokens"),
        *("prompt", "context", "answer", "intent", "state", "template", "turn"),
    )
    prompt = text_column("prompt_text", "prompt")
    context = text_column("user_context", "context")
    answer = text_column("response_text", "answer")
    latency = value_column("latency_ms", "duration (ms)")
    intent = code_column("intent_code", "intent")
    state = code_column("state_code", "state")
    turn = value_column("turn_id", "turn ID")
    time = value_column("created_at", "time")

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Those of one turn in order; else newest first."""
        return ("llm_call_id",) if "turn_no" in request.GET else ("-llm_call_id",)

    @admin.display(description="conversation")
    def conversation(self, row: CeLlmCallLog) -> SafeString:
        """A link to the conversation, with a short id because the list is wide."""
        beginning = f"{str(row.conversation_id)[:8]}…"
        return link("ce_sessions_ceconversation_change", beginning, row.conversation_id)

    @admin.display(description="prompt template")
    def template(self, row: CeLlmCallLog) -> SafeString | str:
        return row_link("ce_prompt_template", row.template_id) if row.template_id else "-"

    @admin.display(description="response or error")
    def answer_excerpt(self, row: CeLlmCallLog) -> str:
        """The beginning of the answer, or the error."""
        return shorten_line((row.response_text if row.success else row.error_message) or "", 60)

    @admin.display(description="purpose")
    def asked_for(self, row: CeLlmCallLog) -> str:
        """The purpose of the call, and its turn."""
        again = f" · attempt {row.attempt}" if (row.attempt or 1) > 1 else ""
        return f"{purpose_label(row.purpose)} · turn {row.turn_no or '-'}{again}"

    @admin.display(description="tokens in / out")
    def tokens(self, row: CeLlmCallLog) -> str:
        """The tokens in and out, as the service counted them."""
        counts = (row.input_tokens, row.output_tokens)
        return "-" if counts == (None, None) else " / ".join("-" if count is None else str(count) for count in counts)

    @badge_column({"ok": "success", "failed": "danger"}, "outcome")
    def outcome(self, row: CeLlmCallLog) -> tuple[str, str]:
        return ("ok", "OK") if row.success else ("failed", "Failed")

    @admin.display(description="configuration")
    def release(self, row: CeLlmCallLog) -> SafeString:
        return release_link(row.config_version)
