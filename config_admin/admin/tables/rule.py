"""Admin of `ce_rule` (tables 2.3)."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Case, Value, When
from django.urls import path
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.admin.editing.pickers import action_values, rule_actions, words
from config_admin.admin.filters import IntentFilter, InUseFilter, StateFilter
from config_admin.admin.places.health_page import health
from config_admin.models import CeRule
from config_admin.snapshot.compile import row_of
from convengine.domain.enums import MatchTarget, RulePhase, RuleType
from convengine.domain.rows import Rule
from convengine.domain.text import excerpt
from convengine.rules.sentence import sentence

#: How much of a rule the list tells.
_LONGEST = 180
#: Phases in the order of a turn.
_PHASE = Case(*(When(phase=phase.value, then=Value(place)) for place, phase in enumerate(RulePhase)), default=Value(99))


@admin.register(CeRule)
class RuleAdmin(ScopedAdmin):
    """When a condition holds, do one thing. The list is in the order in which a turn looks at the rules."""

    sections = (
        ("Where", ("phase", "intent_code", "state_code")),
        ("When", ("rule_type", "match_pattern", "match_target", "null_leaf_matches")),
        ("Then", ("action", "action_value", "stop_processing")),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {
        **SCOPE,
        "phase": words(RulePhase),
        "rule_type": words(RuleType),
        "match_target": words(MatchTarget),
        "action": rule_actions,
        "action_value": action_values,
    }
    depends = {"action_value": "action"}
    code_fields = ("match_pattern",)
    list_display = ("rule", "does", "priority", "in_use", "phase", "intent_code", "state_code")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("phase", ChoicesDropdownFilter), ("rule_type", ChoicesDropdownFilter), ("action", ChoicesDropdownFilter)),
    )
    search_fields = ("match_pattern", "action_value", "description")
    ordering = (_PHASE.asc(), *any_last("intent_code"), *any_last("state_code"), "priority", "rule_id")

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the health of all of it."""
        view = self.admin_site.admin_view(health)
        return [path("health/", view, name="config_admin_cerule_health"), *super().get_urls()]

    class Media:
        """The value as the chosen action wants it."""

        js = ("convengine/value.js",)

    @admin.display(description="rule", ordering="rule_id")
    def rule(self, row: CeRule) -> str:
        """Its number, and what it is for."""
        return f"{row.pk} · {row.description}" if row.description else str(row.pk)

    @admin.display(description="what it does")
    def does(self, row: CeRule) -> str:
        """The rule as a sentence; blank for one with a value that its column cannot hold."""
        try:
            stored = row_of(row)
        except ValidationError:
            return ""
        return excerpt(sentence(stored), _LONGEST) if isinstance(stored, Rule) else ""
