"""Admin of `ce_state_graph`."""

from django.contrib import admin

from config_admin.tables.base_admin import RowAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter
from config_admin.tables.state_graph.model import CeStateGraph
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeStateGraph)
class StateGraphAdmin(RowAdmin):
    """The allowed state moves of each intent."""

    sections = (
        ("Move", ("intent_code", "from_state", "to_state")),
        ("Availability", ("priority", "enabled", "description")),
    )
    is_scoped = True
    list_display = ("move", "in_use", "intent_code", "priority", "about")
    list_filter = (InUseFilter, IntentFilter)
    search_fields = ("from_state", "to_state", "description")
    ordering = (*any_last("intent_code"), "priority", "from_state", "to_state", "edge_id")
    about = excerpt_column("description", "description")

    @admin.display(description="move", ordering="from_state")
    def move(self, row: CeStateGraph) -> str:
        """The move, from one state to another."""
        return f"{row.from_state} → {row.to_state}"
