"""Admin of `ce_verbose`."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.verbose.model import CeVerbose
from convengine.engine.text.compare import shorten_line


@admin.register(CeVerbose)
class VerboseAdmin(ScopedAdmin):
    """What users read while they wait. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Event", ("determinant", "step_match", "step_value", "rule_id", "tool_code")),
        ("Texts", ("message", "error_message")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("text", "in_use", "intent_code", "state_code", "determinant", "step_value", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("step_match", ChoicesDropdownFilter))
    search_fields = ("message", "error_message", "determinant", "step_value", "tool_code")
    ordering = (
        *(*any_last("intent_code"), *any_last("state_code"), *any_last("determinant")),
        *("priority", "verbose_id"),
    )

    @admin.display(description="text")
    def text(self, row: CeVerbose) -> str:
        """The beginning of the text."""
        return f"{row.pk} · {shorten_line(row.message or row.error_message, 60)}"
