"""Admin of `ce_intent` (tables 2.1)."""

from django.contrib import admin

from config_admin.admin.base import RowAdmin
from config_admin.models import CeIntent
from convengine.record_columns import beginning


@admin.register(CeIntent)
class IntentAdmin(RowAdmin):
    """What users may want."""

    sections = (
        ("Intent", ("intent_code", "display_name", "description", "llm_hint")),
        ("In force", ("priority", "enabled")),
    )
    list_display = ("intent_code", "in_use", "priority", "display_name", "about")
    search_fields = ("intent_code", "display_name", "description")
    ordering = ("priority", "intent_code")
    fixed_fields = ("intent_code",)
    code_fields = ("intent_code",)
    save_as = False
    about = beginning("description", "applies when", 90)
