"""Admin of `ce_rule`."""

import json
from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Case, Value, When
from django.http import HttpRequest
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.editing.condition_fields import describe_operators, list_condition_fields
from config_admin.editing.context import get_editor_context
from config_admin.releases.compile import row_of
from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.list_filters import IntentFilter, InUseFilter, StateFilter
from config_admin.tables.rule.model import CeRule
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import shorten
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.rows import Rule

#: The length of a rule's sentence in the list.
_LONGEST = 180
#: Phases in the order of a turn.
_PHASE = Case(
    *(When(phase=phase.value, then=Value(position)) for position, phase in enumerate(RulePhase)), default=Value(99)
)


@admin.register(CeRule)
class RuleAdmin(ScopedAdmin):
    """If a condition is met, do one action. The list is in the order in which a turn looks at the rules."""

    sections = (
        ("Where", ("phase", "intent_code", "state_code")),
        ("When", ("rule_type", "match_pattern", "match_target", "null_leaf_matches")),
        ("Then", ("action", "action_value", "stop_processing", "override")),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("rule", "does", "priority", "in_use", "phase", "intent_code", "state_code")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("phase", ChoicesDropdownFilter), ("rule_type", ChoicesDropdownFilter), ("action", ChoicesDropdownFilter)),
    )
    search_fields = ("match_pattern", "action_value", "description")
    ordering = (_PHASE.asc(), *any_last("intent_code"), *any_last("state_code"), "priority", "rule_id")

    class Media:
        """The editors of the condition and of the chosen action's value."""

        js = ("convengine/condition.js", "convengine/value.js")

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """The condition has an editor of rows."""
        formfield = super().formfield_for_dbfield(db_field, request, **options)
        if db_field.name == "match_pattern":
            offered = {"operators": describe_operators(), "fields": list_condition_fields(get_editor_context(request))}
            formfield.widget.attrs["data-condition"] = json.dumps(offered)
        return formfield

    @admin.display(description="rule", ordering="rule_id")
    def rule(self, row: CeRule) -> str:
        """The number and description of the row."""
        return f"{row.pk} · {row.description}" if row.description else str(row.pk)

    @admin.display(description="sentence")
    def does(self, row: CeRule) -> str:
        """The rule as a sentence; blank for a rule with an invalid value."""
        try:
            stored = row_of(row)
        except ValidationError:
            return ""
        return shorten(describe_rule(stored), _LONGEST) if isinstance(stored, Rule) else ""
