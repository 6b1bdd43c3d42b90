"""Admin of `ce_state_graph` (tables 2.4)."""

from django.contrib import admin

from config_admin.admin.base import RowAdmin, any_last
from config_admin.admin.editing.pickers import intents, states
from config_admin.admin.filters import IntentFilter, InUseFilter
from config_admin.models import CeStateGraph
from convengine.domain.scope import ANY
from convengine.record_columns import beginning


@admin.register(CeStateGraph)
class StateGraphAdmin(RowAdmin):
    """The allowed state moves of each intent."""

    sections = (
        ("Move", ("intent_code", "from_state", "to_state")),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {"intent_code": intents(ANY), "from_state": states(ANY), "to_state": states(ANY)}
    is_scoped = True
    list_display = ("move", "in_use", "intent_code", "priority", "about")
    list_filter = (InUseFilter, IntentFilter)
    search_fields = ("from_state", "to_state", "description")
    ordering = (*any_last("intent_code"), "priority", "from_state", "to_state", "edge_id")
    about = beginning("description", "description")

    @admin.display(description="move", ordering="from_state")
    def move(self, row: CeStateGraph) -> str:
        """From where to where."""
        return f"{row.from_state} → {row.to_state}"
