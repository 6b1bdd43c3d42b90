"""Admin of `ce_intent_classifier` (tables 2.2)."""

from django.contrib import admin
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.classifier.model import CeIntentClassifier
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from convengine.server.admin_site.record_columns import excerpt_column


@admin.register(CeIntentClassifier)
class ClassifierAdmin(RowAdmin):
    """Texts that lead to an intent. Intent and state are the result here, so ANY is no intent."""

    sections = (
        ("Condition", ("rule_type", "pattern")),
        ("Result", ("intent_code", "state_code")),
        ("Availability", ("priority", "enabled", "description")),
    )
    is_scoped = True
    list_display = ("wording", "in_use", "intent_code", "state_code", "rule_type", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("rule_type", ChoicesDropdownFilter))
    search_fields = ("pattern", "description")
    ordering = ("priority", "classifier_id")
    wording = excerpt_column("pattern", "pattern")
