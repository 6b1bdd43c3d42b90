"""The list of erasures."""

from django.contrib import admin

from audit.models import CeErasure
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import ProofColumns, excerpt_column, value_column


@admin.register(CeErasure)
class ErasureAdmin(ProofColumns, ByConversation):
    """Erasures, newest first."""

    is_of_people = False
    list_display = ("time", "by", "reason_beginning", "conversation_page", "last_turn", "standing")
    fields = ("time", "by", "reason", "conversation_page", "last_turn", "last_addition", "validity")
    readonly_fields = ("time", "conversation_page", "last_turn", "validity")
    ordering = ("-erasure_id",)
    time = value_column("created_at", "time")
    last_turn = value_column("last_turn_no", "last turn")
    reason_beginning = excerpt_column("reason", "reason")
