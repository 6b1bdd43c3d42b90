"""Admin of `ce_pending_action` (tables 4.1)."""

from django.contrib import admin

from config_admin.admin.base import SCOPE, ScopedAdmin
from config_admin.admin.editing.pickers import methods, tasks
from config_admin.models import CePendingAction
from convengine.record_columns import beginning


@admin.register(CePendingAction)
class PendingActionAdmin(ScopedAdmin):
    """What needs a "yes" before it runs."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Action", ("action_key", "description")),
        ("What runs", ("bean_name", "method_names")),
        ("In force", ("priority", "enabled")),
    )
    pickers = {**SCOPE, "bean_name": tasks, "method_names": methods}
    depends = {"method_names": "bean_name"}
    code_fields = ("action_key",)
    list_display = ("action_key", "in_use", "intent_code", "state_code", "runs", "priority", "about")
    search_fields = ("action_key", "bean_name", "description")
    ordering = ("priority", "pending_action_id")
    about = beginning("description", "description")

    @admin.display(description="runs")
    def runs(self, row: CePendingAction) -> str:
        """Task and methods."""
        return f"{row.bean_name}: {row.method_names}"
