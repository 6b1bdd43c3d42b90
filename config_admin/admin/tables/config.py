"""Admin of `ce_config`, the live settings (tables 5.1)."""

from typing import Any, cast

from django.contrib import admin
from django.db.models.functions import Lower
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from config_admin.admin.base import RowAdmin
from config_admin.admin.editing.pickers import default_of, setting_keys, setting_types
from config_admin.admin.editing.setting_fields import value_field
from config_admin.admin.places import settings_page
from config_admin.models import CeConfig
from config_admin.snapshot.compile import row_of
from config_admin.validation.checks.config import setting_of
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.settings import Setting
from convengine.record_columns import beginning, labelled

#: Whoever may roll releases back is a configuration administrator (R18).
ADMINISTRATOR = "config_admin.roll_back_release"


def declared(row: CeConfig) -> Setting[Any] | None:
    """The setting that a row gives a value to; null when nothing reads it."""
    return setting_of(cast(rows.Config, row_of(row)))


@admin.register(CeConfig)
class ConfigAdmin(RowAdmin):
    """Switches of the engine, live. Those marked as reserved are for configuration administrators (settings 1)."""

    sections = (
        ("Setting", ("config_type", "config_key", "config_value")),
        ("In force", ("enabled",)),
    )
    pickers = {"config_type": setting_types, "config_key": setting_keys}
    depends = {"config_key": "config_type"}
    code_fields = ("config_value",)
    list_display = ("name", "in_use", "value", "default", "reserved", "meaning")
    search_fields = ("config_type", "config_key", "config_value")
    ordering = (Lower("config_type").asc(), Lower("config_key").asc())
    value = beginning("config_value", "value", 40)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> type[ModelForm]:
        """The form; beside the value of a known setting stands what it may be."""
        form = super().get_form(request, obj, change, **options)
        setting = declared(obj) if obj else None
        if setting and "config_value" in form.base_fields:
            if "config_key" in form.base_fields:
                form.base_fields["config_key"].widget.attrs["data-quiet"] = ""
            form.base_fields["config_value"] = value_field(setting)
        return form

    def get_urls(self) -> list[Any]:
        """Beside the list of rows, the page of all settings."""
        view = self.admin_site.admin_view(self.effective_view)
        return [path("effective/", view, name="config_admin_ceconfig_effective"), *super().get_urls()]

    def effective_view(self, request: HttpRequest) -> HttpResponse:
        """Every setting, with the value in force and where it comes from."""
        return settings_page.show(self, request)

    def response_post_save_add(self, request: HttpRequest, obj: CeConfig) -> HttpResponse:
        """What is in force now."""
        return HttpResponseRedirect(settings_page.settings_url(declared(obj)))

    def response_post_save_change(self, request: HttpRequest, obj: CeConfig) -> HttpResponse:
        """Likewise."""
        return HttpResponseRedirect(settings_page.settings_url(declared(obj)))

    def response_delete(self, request: HttpRequest, obj_display: str, obj_id: int) -> HttpResponse:
        """Likewise: what holds without the row."""
        super().response_delete(request, obj_display, obj_id)
        return HttpResponseRedirect(settings_page.settings_url())

    def is_reserved(self, request: HttpRequest, setting: Setting[Any]) -> bool:
        """True when the setting is one for configuration administrators, and this user is none (settings 1)."""
        return setting.mark == "LR" and not request.user.has_perm(ADMINISTRATOR)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Whoever may only read finds the meaning as a line of its own."""
        found = super().get_fieldsets(request, obj)
        if obj and not self.has_change_permission(request, obj):
            found[0][1]["fields"] = [*found[0][1]["fields"], "meaning", "default"]
        return found

    def has_change_permission(self, request: HttpRequest, obj: CeConfig | None = None) -> bool:
        """Reserved settings are changed by configuration administrators."""
        return super().has_change_permission(request, obj) and self._is_free(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: CeConfig | None = None) -> bool:
        """Likewise."""
        return super().has_delete_permission(request, obj) and self._is_free(request, obj)

    def forbidden(self, request: HttpRequest, row: Row) -> str:
        """Nor may anybody else make, switch or bring back such a row."""
        setting = setting_of(row) if isinstance(row, rows.Config) else None
        if setting is None or not self.is_reserved(request, setting):
            return ""
        return f"{setting.name} is reserved for configuration administrators."

    def _is_free(self, request: HttpRequest, obj: CeConfig | None) -> bool:
        return obj is None or not self.forbidden(request, row_of(obj))

    @admin.display(description="setting", ordering=Lower("config_key"))
    def name(self, row: CeConfig) -> str:
        """Reader and key."""
        return f"{row.config_type} / {row.config_key}"

    @admin.display(description="default")
    def default(self, row: CeConfig) -> str:
        """What holds without the row."""
        setting = declared(row)
        return default_of(setting)[:40] if setting else "-"

    @labelled({"reserved": "warning"}, "reserved")
    def reserved(self, row: CeConfig) -> tuple[str, str] | None:
        """Whether only configuration administrators may change it."""
        setting = declared(row)
        return ("reserved", "reserved") if setting and setting.mark == "LR" else None

    @admin.display(description="meaning")
    def meaning(self, row: CeConfig) -> str:
        """What it does."""
        setting = declared(row)
        return setting.help if setting else "nothing reads it"
