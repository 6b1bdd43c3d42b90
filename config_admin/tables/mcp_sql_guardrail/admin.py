"""Admin of `ce_mcp_sql_guardrail`."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.list_filters import InUseFilter
from config_admin.tables.mcp_sql_guardrail.model import CeMcpSqlGuardrail
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeMcpSqlGuardrail)
class SqlGuardrailAdmin(RowAdmin):
    """What SQL of tools may, or may not, use."""

    sections = (
        ("Guardrail", ("rule_type", "match_value")),
        ("Availability", ("enabled", "description")),
    )
    list_display = ("match_value", "in_use", "rule_type", "about")
    list_filter = (InUseFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("match_value", "description")
    ordering = ("rule_type", "match_value")
    about = excerpt_column("description", "description")
