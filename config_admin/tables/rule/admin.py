"""Admin of `ce_rule`."""

import json
from collections.abc import Iterable, Iterator
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
from convengine.engine.rules.conditions.to_rows import convert_path
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn.enums import RulePhase, RuleType
from convengine.engine.turn.rows import Rule

#: The length of a rule's sentence in the list.
_LONGEST = 180
#: Phases in the order of a turn.
_PHASE = Case(
    *(When(phase=phase.value, then=Value(position)) for position, phase in enumerate(RulePhase)), default=Value(99)
)


def _convert_paths(request: HttpRequest) -> dict[str, str]:
    """The JSON paths of rules that rows of fields and values can say, and these rows."""
    snapshot = get_editor_context(request).snapshot
    return snapshot.table(Rule).memo.get("rows of paths", lambda: dict(_list_converted(snapshot.rows(Rule))))


def _list_converted(listed: Iterable[Rule]) -> Iterator[tuple[str, str]]:
    paths = {row.match_pattern for row in listed if code(row.rule_type) == RuleType.JSON_PATH and row.match_pattern}
    return ((path, converted) for path in paths if (converted := convert_path(path)))


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
            formfield.widget.attrs["data-condition"] = json.dumps(self._describe_conditions(request))
        return formfield

    def describe_condition_column(self, request: HttpRequest) -> dict[str, Any]:
        """The grid opens the same editor for the condition."""
        columns = {"column": "match_pattern", "kind": "rule_type", "intent": "intent_code"}
        return {**columns, "paths": _convert_paths(request), **self._describe_conditions(request)}

    def _describe_conditions(self, request: HttpRequest) -> dict[str, Any]:
        return {"operators": describe_operators(), "fields": list_condition_fields(get_editor_context(request))}

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
