"""Admin of `ce_prompt_template`."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.prompt_template.model import CePromptTemplate
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CePromptTemplate)
class PromptTemplateAdmin(ScopedAdmin):
    """The prompt of a model, and what the user may do in a state. Of equal rows, the newest comes first."""

    sections = (
        ("Where", ("response_type", "intent_code", "state_code")),
        ("Prompts", ("system_prompt", "user_prompt", "temperature")),
        ("User options", ("interaction_mode", "interaction_contract")),
        ("Availability", ("enabled",)),
    )
    list_display = ("template", "in_use", "intent_code", "state_code", "response_type", "interaction_mode", "prompt")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("interaction_mode", ChoicesDropdownFilter)),
    )
    search_fields = ("system_prompt", "user_prompt")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "-created_at", "-template_id")
    prompt = excerpt_column("user_prompt", "user prompt", 50)

    @admin.display(description="template", ordering="template_id")
    def template(self, row: CePromptTemplate) -> str:
        """The number, what it is for, and where."""
        return str(row)
