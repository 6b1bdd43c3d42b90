"""Admin of `ce_container_config`."""

from django.contrib import admin

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.container_config.model import CeContainerConfig


@admin.register(CeContainerConfig)
class ContainerConfigAdmin(ScopedAdmin):
    """Data to fetch for an intent and state."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Data", ("page_id", "section_id", "container_id", "input_param_name")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("input_param_name", "in_use", "intent_code", "state_code", "address", "priority")
    search_fields = ("input_param_name",)
    ordering = (*any_last("intent_code"), *any_last("state_code"), "priority", "id")

    @admin.display(description="page / section / container")
    def address(self, row: CeContainerConfig) -> str:
        """The page, section and container numbers."""
        return f"{row.page_id} / {row.section_id} / {row.container_id}"
