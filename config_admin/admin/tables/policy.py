"""Admin of `ce_policy` (tables 2.5)."""

from django.contrib import admin
from django.db.models import Case, Value, When
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import RowAdmin
from config_admin.admin.editing.pickers import words
from config_admin.admin.filters import InUseFilter
from config_admin.models import CePolicy
from convengine.domain.enums import PolicyType
from convengine.record_columns import beginning

#: Rows that a model judges come after all others.
_MODEL_LAST = Case(When(rule_type=PolicyType.LLM.value, then=Value(1)), default=Value(0))


@admin.register(CePolicy)
class PolicyAdmin(RowAdmin):
    """What is never processed; the first match stops the turn."""

    sections = (
        ("When a text", ("rule_type", "pattern")),
        ("answer with", ("response_text",)),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {"rule_type": words(PolicyType)}
    code_fields = ("pattern",)
    list_display = ("wording", "in_use", "rule_type", "answer", "priority")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "response_text", "description")
    ordering = (_MODEL_LAST.asc(), "priority", "policy_id")
    wording = beginning("pattern", "pattern")
    answer = beginning("response_text", "answer")
