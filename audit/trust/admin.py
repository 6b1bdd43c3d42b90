"""The list of what was erased."""

from django.contrib import admin

from audit.models import CeErasure
from convengine.read_only import ByConversation
from convengine.record_columns import beginning, labelled


@admin.register(CeErasure)
class ErasureAdmin(ByConversation):
    """Erasures, the newest first."""

    is_of_people = False
    list_display = ("created_at", "by", "reason_beginning", "conversation_page", "last_turn_no", "standing")
    fields = ("created_at", "by", "reason", "conversation_page", "last_turn_no", "last_link", "standing")
    readonly_fields = ("conversation_page", "standing")
    ordering = ("-erasure_id",)
    reason_beginning = beginning("reason", "reason")

    @labelled({"proven": "success", "not proven": "danger"}, "proof")
    def standing(self, row: CeErasure) -> tuple[str, str]:
        """Whether the product wrote it."""
        word = "proven" if row.is_genuine() else "not proven"
        return word, word
