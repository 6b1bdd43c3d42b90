"""What keeps turns in order and effects single: waiting turns, claimed actions, answers to repeated requests."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from convengine.read_only import ByConversation
from convengine.record_columns import status_column
from convengine.sessions.admin.masking import masked_column
from convengine.sessions.admin.settling import SettlingAdmin
from convengine.sessions.models import CeIdempotency, CePendingActionExecution, CeTurnTicket


@admin.register(CePendingActionExecution)
class ExecutionAdmin(SettlingAdmin):
    """Actions that ran, at most once each. One left CLAIMED is for a person to decide (tables 6.7)."""

    list_filter = (("status", ChoicesDropdownFilter),)
    list_display = ("action_key", "ended", "action_ref", "conversation_page", "started_at", "finished_at")
    ordering = ("-id",)
    fields = (
        *("action_key", "status", "action_ref", "conversation_page", "turn_id", "runtime_nonce", "result"),
        *("started_at", "finished_at"),
    )
    readonly_fields = ("conversation_page", "result")
    ended = status_column()
    result = masked_column("result_json", "result")


@admin.register(CeTurnTicket)
class TicketAdmin(ByConversation):
    """Turns that wait for a conversation's lease."""

    is_of_people = False
    list_display = ("id", "conversation_page", "arrived_at", "expires_at")
    ordering = ("-id",)


@admin.register(CeIdempotency)
class StoredAnswerAdmin(ByConversation):
    """Answers that a repeated request gets again."""

    list_display = ("key", "conversation_page", "created_at", "expires_at")
    ordering = ("-id",)
    #: No index finds them by conversation; they expire within days.
    search_fields = ()
    fields = ("key", "conversation_page", "turn_id", "stored", "created_at", "expires_at")
    readonly_fields = ("conversation_page", "stored")
    stored = masked_column("answer", "answer")
