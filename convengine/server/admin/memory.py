"""Admin pages of memory: summaries, and facts taken from turns."""

from django.contrib import admin

from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import excerpt_column, json_column, text_column
from convengine.server.sessions.models import CeMemory, CeSessionUnit


@admin.register(CeMemory)
class MemoryAdmin(ByConversation):
    """Summaries of long conversations."""

    list_display = ("memory_type", "summary", "source", "from_turn", "to_turn", "conversation_page", "updated_at")
    ordering = ("-memory_id",)
    fields = ("memory_type", "conversation_page", "text", "source", "from_turn", "to_turn", "detail", "updated_at")
    readonly_fields = ("conversation_page", "text", "detail")
    summary = excerpt_column("summary_text", "summary", 90)
    text = text_column("summary_text", "summary")
    detail = json_column("detail_json", "detail")


@admin.register(CeSessionUnit)
class SessionUnitAdmin(ByConversation):
    """Reusable facts, constraints, definitions and guidance."""

    list_display = ("topic", "kind", "excerpt", "source_turn", "conversation_page", "committed_at")
    ordering = ("-unit_id",)
    fields = ("kind", "topic", "text", "conversation_page", "source_turn", "useful_for", "in_phases", "committed_at")
    readonly_fields = ("conversation_page", "text", "useful_for", "in_phases")
    excerpt = excerpt_column("claim", "claim", 90)
    text = text_column("claim", "claim")
    useful_for = json_column("utility", "useful for")
    in_phases = json_column("phases", "phases")
