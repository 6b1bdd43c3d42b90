"""Admin of `ce_prompt_template` (tables 3.2)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.admin.editing.pickers import words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.models import CePromptTemplate
from convengine.domain.enums import InteractionMode, PromptUse
from convengine.record_columns import beginning


@admin.register(CePromptTemplate)
class PromptTemplateAdmin(ScopedAdmin):
    """What a model is told, and what the user may do in a state. Of equals, the newest comes first."""

    sections = (
        ("Where", ("response_type", "intent_code", "state_code")),
        ("Prompts", ("system_prompt", "user_prompt", "temperature")),
        ("What the user may do", ("interaction_mode", "interaction_contract")),
        ("In force", ("enabled",)),
    )
    pickers = {**SCOPE, "response_type": words(PromptUse), "interaction_mode": words(InteractionMode)}
    code_fields = ("system_prompt", "user_prompt", "interaction_contract")
    list_display = ("template", "in_use", "intent_code", "state_code", "response_type", "interaction_mode", "prompt")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("interaction_mode", ChoicesDropdownFilter)),
    )
    search_fields = ("system_prompt", "user_prompt")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "-created_at", "-template_id")
    prompt = beginning("user_prompt", "user prompt", 50)

    @admin.display(description="template", ordering="template_id")
    def template(self, row: CePromptTemplate) -> str:
        """Its number."""
        return f"Template {row.pk}"
