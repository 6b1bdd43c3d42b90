"""What is kept beyond the turns: summaries, and facts taken from them."""

from django.contrib import admin

from convengine.read_only import ByConversation
from convengine.record_columns import beginning, json_column, text_column
from convengine.sessions.models import CeMemory, CeSessionUnit


@admin.register(CeMemory)
class MemoryAdmin(ByConversation):
    """Summaries kept beyond the prompt window."""

    list_display = ("memory_type", "summary", "source", "from_turn", "to_turn", "conversation_page", "updated_at")
    ordering = ("-memory_id",)
    fields = ("memory_type", "conversation_page", "text", "source", "from_turn", "to_turn", "detail", "updated_at")
    readonly_fields = ("conversation_page", "text", "detail")
    summary = beginning("summary_text", "summary", 90)
    text = text_column("summary_text", "summary")
    detail = json_column("detail_json", "detail")


@admin.register(CeSessionUnit)
class SessionUnitAdmin(ByConversation):
    """Reusable facts, constraints, definitions and guidance."""

    list_display = ("topic", "kind", "beginning", "source_turn", "conversation_page", "committed_at")
    ordering = ("-unit_id",)
    fields = ("kind", "topic", "text", "conversation_page", "source_turn", "useful_for", "in_phases", "committed_at")
    readonly_fields = ("conversation_page", "text", "useful_for", "in_phases")
    beginning = beginning("claim", "claim", 90)
    text = text_column("claim", "claim")
    useful_for = json_column("utility", "useful for")
    in_phases = json_column("phases", "phases")
