"""Admin of `ce_verbose` (tables 5.2)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.admin.editing.pickers import determinants, steps, tools, words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.models import CeVerbose
from convengine.domain.enums import StepMatch
from convengine.record_columns import shortened


@admin.register(CeVerbose)
class VerboseAdmin(ScopedAdmin):
    """What users read while they wait. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("What happens", ("determinant", "step_match", "step_value", "rule_id", "tool_code")),
        ("What is said", ("message", "error_message")),
        ("In force", ("priority", "enabled")),
    )
    pickers = {
        **SCOPE,
        "step_match": words(StepMatch),
        "step_value": steps,
        "determinant": determinants,
        "tool_code": tools,
    }
    code_fields = ("message", "error_message")
    list_display = ("text", "in_use", "intent_code", "state_code", "determinant", "step_value", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("step_match", ChoicesDropdownFilter))
    search_fields = ("message", "error_message", "determinant", "step_value", "tool_code")
    ordering = (
        *(*any_last("intent_code"), *any_last("state_code"), *any_last("determinant")),
        *("priority", "verbose_id"),
    )

    @admin.display(description="text")
    def text(self, row: CeVerbose) -> str:
        """The beginning of what is said."""
        return f"{row.pk} · {shortened(row.message or row.error_message, 60)}"
