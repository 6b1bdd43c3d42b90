"""Admin of `ce_pending_action` (tables 4.1)."""

from django.contrib import admin

from config_admin.tables.base_admin import ScopedAdmin
from config_admin.tables.pending_action.model import CePendingAction
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CePendingAction)
class PendingActionAdmin(ScopedAdmin):
    """Actions that run after the user confirms."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Action", ("action_key", "description")),
        ("Task", ("bean_name", "method_names")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("action_key", "in_use", "intent_code", "state_code", "runs", "priority", "about")
    search_fields = ("action_key", "bean_name", "description")
    ordering = ("priority", "pending_action_id")
    about = excerpt_column("description", "description")

    @admin.display(description="runs")
    def runs(self, row: CePendingAction) -> str:
        """The task and its methods."""
        return f"{row.bean_name}: {row.method_names}"
