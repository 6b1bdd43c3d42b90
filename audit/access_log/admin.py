"""The list of who read what."""

from django.contrib import admin
from django.utils.safestring import SafeString

from audit.models import CeAccessLog
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import excerpt_column, link


@admin.register(CeAccessLog)
class AccessLogAdmin(ByConversation):
    """Accesses of users to the record, newest first."""

    is_of_people = False
    list_display = ("created_at", "reader", "action", "conversation_page", "turn", "search_beginning", "address")
    search_fields = ("reader", "conversation_id")
    search_help_text = "User name or conversation ID"
    fields = ("reader", "action", "conversation_page", "turn", "search", "address", "path", "created_at")
    readonly_fields = ("action", "conversation_page", "turn")
    ordering = ("-access_id",)
    search_beginning = excerpt_column("search", "search")

    @admin.display(description="action")
    def action(self, row: CeAccessLog) -> str:
        return dict(CeAccessLog.Kind.choices).get(row.kind, row.kind)

    @admin.display(description="conversation")
    def conversation_page(self, row: CeAccessLog) -> SafeString:
        return super().conversation_page(row) if row.conversation_id else SafeString("-")

    @admin.display(description="conversation")
    def conversation_name(self, row: CeAccessLog) -> str:
        """Its id, for users who may not open it."""
        return str(row.conversation_id or "-")

    @admin.display(description="turn")
    def turn(self, row: CeAccessLog) -> SafeString | str:
        if row.turn_no is None:
            return "-"
        query = f"?conversation_id={row.conversation_id}&turn_no={row.turn_no}"
        return link("ce_sessions_ceconversationhistory_changelist", row.turn_no, query=query)
