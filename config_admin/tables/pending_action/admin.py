"""Admin of `ce_pending_action`."""

from django.contrib import admin

from config_admin.tables.base_admin import ScopedAdmin
from config_admin.tables.pending_action.model import CePendingAction
from convengine.engine.text.compare import shorten_line


@admin.register(CePendingAction)
class PendingActionAdmin(ScopedAdmin):
    """Actions that run after the user confirms."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Action", ("action_key", "description")),
        ("Task", ("bean_name", "method_names")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("about", "in_use", "action_key", "intent_code", "state_code", "runs", "priority")
    search_fields = ("action_key", "bean_name", "description")
    ordering = ("priority", "pending_action_id")

    @admin.display(description="description", ordering="description")
    def about(self, row: CePendingAction) -> str:
        """The description, or the key."""
        return shorten_line(row.description or row.action_key, 60)

    @admin.display(description="runs")
    def runs(self, row: CePendingAction) -> str:
        """The task and its methods."""
        return f"{row.bean_name}: {row.method_names}"
