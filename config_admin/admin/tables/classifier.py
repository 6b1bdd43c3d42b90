"""Admin of `ce_intent_classifier` (tables 2.2)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import RowAdmin
from config_admin.admin.editing.pickers import intents, states, words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.models import CeIntentClassifier
from convengine.domain.enums import ClassifierType
from convengine.domain.scope import ANY, UNKNOWN
from convengine.record_columns import beginning


@admin.register(CeIntentClassifier)
class ClassifierAdmin(RowAdmin):
    """Wordings that mean an intent. Intent and state are the result here, so ANY is no intent."""

    sections = (
        ("When a text", ("rule_type", "pattern")),
        ("it means", ("intent_code", "state_code")),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {"intent_code": intents(), "state_code": states(UNKNOWN, ANY), "rule_type": words(ClassifierType)}
    code_fields = ("pattern",)
    is_scoped = True
    list_display = ("wording", "in_use", "intent_code", "state_code", "rule_type", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "description")
    ordering = ("priority", "classifier_id")
    wording = beginning("pattern", "pattern")
