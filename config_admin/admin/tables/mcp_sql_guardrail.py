"""Admin of `ce_mcp_sql_guardrail` (tables 4.6)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import RowAdmin
from config_admin.admin.editing.pickers import words
from config_admin.admin.filters import InUseFilter
from config_admin.models import CeMcpSqlGuardrail
from convengine.domain.enums import GuardrailType
from convengine.record_columns import beginning


@admin.register(CeMcpSqlGuardrail)
class SqlGuardrailAdmin(RowAdmin):
    """What SQL of tools may, or may not, use."""

    sections = (
        ("Guardrail", ("rule_type", "match_value")),
        ("In force", ("enabled", "description")),
    )
    pickers = {"rule_type": words(GuardrailType)}
    code_fields = ("match_value",)
    list_display = ("match_value", "in_use", "rule_type", "about")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("match_value", "description")
    ordering = ("rule_type", "match_value")
    about = beginning("description", "description")
