"""Admin pages of turns."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.labels import join_unit
from convengine.server.admin_site.breadcrumbs import set_conversation_breadcrumbs
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import (
    answer_text,
    code_column,
    excerpt_column,
    json_column,
    link,
    release_link,
    status_column,
    text_column,
    value_column,
)
from convengine.server.sessions.models import CeConversationHistory


@admin.register(CeConversationHistory)
class TurnAdmin(ByConversation):
    """Turns of all conversations, newest first."""

    list_display = (
        "turn",
        "ended",
        "user_excerpt",
        "answer_excerpt",
        "intent",
        "state",
        "conversation_page",
        "time",
    )
    ordering = ("-history_id",)
    search_fields = ("turn_id", "conversation_id")
    search_help_text = "Turn ID or conversation ID"
    fieldsets = (
        (None, {"fields": ("turn", "conversation_page", "status", "time", "duration", "release", "trail")}),
        ("Message and answer", {"fields": ("question", "answer", "answer_json")}),
        ("Intent and state", {"fields": ("intent", "state", "error_code", "error_message")}),
        ("Details", {"fields": ("own_id", "source", "resets", "turn_facts", "record", "replay")}),
    )
    readonly_fields = (
        *("turn", "conversation_page", "time", "duration", "release", "trail", "intent", "state", "own_id", "resets"),
        *("question", "answer", "answer_json", "turn_facts", "record", "replay"),
    )
    ended = status_column()
    intent = code_column("intent_code", "intent")
    state = code_column("state_code", "state")
    time = value_column("created_at", "time")
    own_id = value_column("turn_id", "turn ID")
    resets = value_column("context_epoch", "resets before")
    user_excerpt = excerpt_column("user_input", "user")
    question = text_column("user_input", "user")
    answer_json = json_column("assistant_output", "answer as sent")
    turn_facts = json_column("facts", "facts of this turn")

    def render_change_form(self, request: HttpRequest, *args: Any, obj: Any = None, **kwargs: Any) -> HttpResponse:
        """The record of a turn, below its conversation."""
        set_conversation_breadcrumbs(request, obj.conversation_id, obj.turn_no, "Record")
        response: HttpResponse = super().render_change_form(request, *args, obj=obj, **kwargs)
        return response

    @admin.display(description="turn")
    def turn(self, row: CeConversationHistory) -> str:
        return f"Turn\N{NO-BREAK SPACE}{row.turn_no}"

    @admin.display(description="answer")
    def answer_excerpt(self, row: CeConversationHistory) -> str:
        return shorten_line(answer_text(row.assistant_output), 60)

    @admin.display(description="answer")
    def answer(self, row: CeConversationHistory) -> SafeString:
        """The answer as the user saw it."""
        return format_html('<div class="ce-said">{}</div>', answer_text(row.assistant_output) or "-")

    @admin.display(description="duration")
    def duration(self, row: CeConversationHistory) -> str:
        return "-" if row.duration_ms is None else join_unit(row.duration_ms, "ms")

    @admin.display(description="configuration")
    def release(self, row: CeConversationHistory) -> SafeString:
        return release_link(row.config_version)

    @admin.display(description="more")
    def trail(self, row: CeConversationHistory) -> SafeString:
        """Links to the page of the turn, its events, its deciding rows and its model calls."""
        of_turn = f"?conversation_id={row.conversation_id}&turn_no={row.turn_no}"
        return format_html(
            "{} · {} · {} · {}",
            link("audit_ceaudit_turn", "Details of the turn", row.conversation_id, row.turn_no),
            link("audit_ceaudit_changelist", "Audit events", query=of_turn),
            link("audit_ceturnindex_changelist", "Used rows", query=f"?turn_id={row.turn_id}"),
            link("audit_cellmcalllog_changelist", "Model calls", query=of_turn),
        )

    @admin.display(description="audit")
    def record(self, row: CeConversationHistory) -> str:
        """Whether every event of the turn was written."""
        return "incomplete: an event could not be stored" if row.audit_incomplete else "complete"

    @admin.display(description="replay")
    def replay(self, row: CeConversationHistory) -> str:
        """Whether the turn can be replayed."""
        return "possible" if row.replayable else f"not possible: {row.replay_note or 'the recording is not complete'}"
