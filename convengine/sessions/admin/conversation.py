"""A session with its state and its newest turns."""

from django.contrib import admin
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from convengine.read_only import ByConversation
from convengine.record_columns import (
    STATUS_LOOKS,
    as_json,
    conversation_link,
    json_column,
    labelled,
    shortened,
    spoken,
    status,
)
from convengine.sessions.models import CeConversation

NEWEST_TURNS = 20


@admin.register(CeConversation)
class ConversationAdmin(ByConversation):
    """Conversations, the last changed first."""

    list_display = ("conversation_id", "stands", "intent_code", "state_code", "last_turn_no", "channel", "updated_at")
    list_filter = (("status", ChoicesDropdownFilter),)
    ordering = ("-updated_at", "-conversation_id")
    fieldsets = (
        (None, {"fields": ("conversation_id", "status", "lifecycle", "intent_code", "state_code", "updated_at")}),
        ("Newest turns", {"fields": ("newest_turns",)}),
        ("What it remembers", {"fields": ("context", "input_params", "context_summary", "preference_list")}),
        ("Thread", {"fields": ("workspace_id", "channel", "remote_jid", "previous", "lifecycle_facts")}),
        (
            "Bookkeeping",
            {
                "fields": (
                    *("turn_count", "last_turn_no", "context_epoch", "version", "created_at", "last_message_at"),
                    *("expires_at", "running"),
                )
            },
        ),
    )
    readonly_fields = (
        *("newest_turns", "context", "input_params", "preference_list", "previous", "lifecycle_facts", "running"),
    )
    context = json_column("context_json", "context")
    input_params = json_column("input_params_json", "input params")
    preference_list = json_column("preferences", "preferences")
    lifecycle_facts = json_column("lifecycle_detail", "lifecycle facts")

    @labelled(STATUS_LOOKS, "status")
    def stands(self, row: CeConversation) -> tuple[str, str]:
        """The engine's status where it blocks, else the lifecycle, which says more."""
        return status(row.status if row.status == "BLOCKED" else row.lifecycle)

    @admin.display(description="newest first")
    def newest_turns(self, row: CeConversation) -> SafeString:
        """The last turns: what was said, what was answered, and where that led."""
        newest = row.turns.order_by("-turn_no")[:NEWEST_TURNS]
        turns = newest.defer("recording", "trace_graph", "facts", "request_meta")
        entries = [(turn, shortened(turn.user_input), shortened(spoken(turn.assistant_output))) for turn in turns]
        return render_to_string("convengine/turns.html", {"entries": entries})

    @admin.display(description="previous session")
    def previous(self, row: CeConversation) -> SafeString:
        """The session before this one in the same thread."""
        return conversation_link(row.previous_session_id) if row.previous_session_id else format_html("{}", "-")

    @admin.display(description="turn that runs")
    def running(self, row: CeConversation) -> SafeString:
        """Which turn holds the conversation now."""
        return as_json(row.lease_info if row.lease_token else None)
