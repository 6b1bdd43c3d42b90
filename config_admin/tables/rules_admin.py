"""Admin of `ce_rule`, `ce_state_graph`, `ce_container_config`, and of live settings, `ce_config`."""

import json
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Case, Value, When
from django.db.models.functions import Lower
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.editing.condition_fields import describe_operators, list_condition_fields
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import settings_url
from config_admin.editing.setting_fields import value_field
from config_admin.releases.compile import row_of
from config_admin.tables.base_admin import IntentFilter, InUseFilter, RowAdmin, ScopedAdmin, StateFilter, any_last
from config_admin.tables.config import CeConfig
from config_admin.tables.container_config import CeContainerConfig
from config_admin.tables.rule import CeRule
from config_admin.tables.state_graph import CeStateGraph
from config_admin.validation.settings import describe_default, find_setting
from config_admin.workplace import settings_page
from convengine.engine.rules.sentence import describe_rule
from convengine.engine.text.compare import shorten, shorten_line
from convengine.engine.turn import releases, rows
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.rows import Row, Rule
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.record_columns import badge_column, excerpt_column
from convengine.server.admin_site.rights import ROLL_BACK

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


@admin.register(CeStateGraph)
class StateGraphAdmin(RowAdmin):
    """The allowed state moves of each intent."""

    sections = (
        ("Move", ("intent_code", "from_state", "to_state")),
        ("Availability", ("priority", "enabled", "description")),
    )
    is_scoped = True
    list_display = ("move", "in_use", "intent_code", "priority", "about")
    list_filter = (InUseFilter, IntentFilter)
    search_fields = ("from_state", "to_state", "description")
    ordering = (*any_last("intent_code"), "priority", "from_state", "to_state", "edge_id")
    about = excerpt_column("description", "description")

    @admin.display(description="move", ordering="from_state")
    def move(self, row: CeStateGraph) -> str:
        return f"{row.from_state} → {row.to_state}"


@admin.register(CeContainerConfig)
class ContainerConfigAdmin(ScopedAdmin):
    """Data to fetch for an intent and state."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Data", ("page_id", "section_id", "container_id", "input_param_name")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("input_param_name", "in_use", "intent_code", "state_code", "address", "priority")
    search_fields = ("input_param_name",)
    ordering = (*any_last("intent_code"), *any_last("state_code"), "priority", "id")

    @admin.display(description="page / section / container")
    def address(self, row: CeContainerConfig) -> str:
        """The page, section and container numbers."""
        return f"{row.page_id} / {row.section_id} / {row.container_id}"


#: Changes how changes become live.
RELEASE_SETTINGS = "config_admin.change_release_settings"


def _get_declared_setting(row: CeConfig) -> Setting[Any] | None:
    """The setting of a row, or None when nothing reads it."""
    return find_setting(cast(rows.Config, row_of(row)))


@admin.register(CeConfig)
class ConfigAdmin(RowAdmin):
    """Live settings. Only configuration administrators change reserved ones."""

    sections = (
        ("Setting", ("config_type", "config_key", "config_value")),
        ("Availability", ("enabled",)),
    )
    list_display = ("name", "in_use", "value", "default", "reserved_badge", "meaning")
    search_fields = ("config_type", "config_key", "config_value")
    ordering = (Lower("config_type").asc(), Lower("config_key").asc())
    value = excerpt_column("config_value", "value", 40)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> type[ModelForm]:
        """The form; the value of a known setting has a matching input."""
        form = super().get_form(request, obj, change, **options)
        setting = _get_declared_setting(obj) if obj else None
        if setting and "config_value" in form.base_fields:
            if "config_key" in form.base_fields:
                form.base_fields["config_key"].widget.attrs["data-quiet"] = ""
            form.base_fields["config_value"] = value_field(setting)
        return form

    @page(
        "effective/",
        entry=SidebarEntry("Rules & settings", "All settings", "All settings of the engine with their values.", 3),
    )
    def effective_view(self, request: HttpRequest) -> HttpResponse:
        """Every setting, with its value in force and its source."""
        return settings_page.show_settings(self, request)

    def response_post_save_add(self, request: HttpRequest, obj: CeConfig) -> HttpResponse:
        """Back to the page of all settings."""
        return HttpResponseRedirect(settings_url(_get_declared_setting(obj)))

    response_post_save_change = response_post_save_add

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        super().response_delete(request, obj_display, obj_id)
        return HttpResponseRedirect(settings_url())

    def is_reserved(self, request: HttpRequest, setting: Setting[Any]) -> bool:
        """True when the setting is reserved and this user may not change it."""
        right = RELEASE_SETTINGS if setting.type == releases.FAMILY else ROLL_BACK
        return setting.mark == "LR" and not request.user.has_perm(right)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Read-only pages show the meaning as a line of its own."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj and not self.has_change_permission(request, obj):
            fieldsets[0][1]["fields"] = [*fieldsets[0][1]["fields"], "meaning", "default"]
        return fieldsets

    def has_change_permission(self, request: HttpRequest, obj: CeConfig | None = None) -> bool:
        """Configuration administrators change reserved settings."""
        return super().has_change_permission(request, obj) and self._is_free(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: CeConfig | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self._is_free(request, obj)

    def find_refusal(self, request: HttpRequest, row: Row) -> str:
        """Nobody else may make, switch or restore such a row."""
        setting = find_setting(row) if isinstance(row, rows.Config) else None
        if setting is None or not self.is_reserved(request, setting):
            return ""
        return f"“{setting.label}” can only be changed by configuration administrators."

    def _is_free(self, request: HttpRequest, obj: CeConfig | None) -> bool:
        return obj is None or not self.find_refusal(request, row_of(obj))

    @admin.display(description="setting", ordering=Lower("config_key"))
    def name(self, row: CeConfig) -> str:
        """Its label, with type and key."""
        setting, key = _get_declared_setting(row), f"{row.config_type} / {row.config_key}"
        return f"{setting.label} ({key})" if setting else key

    @admin.display(description="default")
    def default(self, row: CeConfig) -> str:
        """The value without the row."""
        setting = _get_declared_setting(row)
        return shorten_line(describe_default(setting), 40) if setting else "-"

    @badge_column({"reserved": "warning"}, "reserved")
    def reserved_badge(self, row: CeConfig) -> tuple[str, str] | None:
        setting = _get_declared_setting(row)
        return ("reserved", "reserved") if setting and setting.mark == "LR" else None

    @admin.display(description="meaning")
    def meaning(self, row: CeConfig) -> str:
        setting = _get_declared_setting(row)
        return setting.help if setting else "unknown setting"
