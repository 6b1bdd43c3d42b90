"""Admin of `ce_policy`."""

from django.contrib import admin
from django.db.models import Case, Value, When
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.list_columns import name_pattern, show_pattern
from config_admin.tables.list_filters import InUseFilter
from config_admin.tables.policy.model import CePolicy
from convengine.engine.turn.enums import PolicyType
from convengine.server.admin_site.record_columns import excerpt_column

#: Policies that a model judges come after all others.
_MODEL_LAST = Case(When(rule_type=PolicyType.LLM.value, then=Value(1)), default=Value(0))


@admin.register(CePolicy)
class PolicyAdmin(RowAdmin):
    """What is never processed; the first match stops the turn."""

    sections = (
        ("Condition", ("rule_type", "pattern")),
        ("Answer", ("response_text",)),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("policy", "in_use", "rule_type", "answer", "priority", "wording")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "response_text", "description")
    ordering = (_MODEL_LAST.asc(), "priority", "policy_id")
    answer = excerpt_column("response_text", "answer")

    @admin.display(description="policy", ordering="pattern")
    def policy(self, row: CePolicy) -> str:
        """The description, or what users write."""
        return name_pattern(row)

    @admin.display(description="pattern")
    def wording(self, row: CePolicy) -> str:
        """The pattern, where the first column does not show it."""
        return show_pattern(row)
