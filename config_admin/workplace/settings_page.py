"""The page of all settings: value, source and rows with qualifiers; search, read, and edit in place."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.functional import cached_property

import convengine.server.settings_catalogue  # noqa: F401  (completes the catalogue)
from config_admin.editing.context import get_editor_context
from config_admin.editing.countries import name_country
from config_admin.editing.links import settings_url
from config_admin.editing.request_change_set import record_request
from config_admin.editing.setting_fields import to_choice, value_field
from config_admin.validation.settings import describe_allowed_values, find_setting, format_value
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.settings_catalogue import TITLES

#: The maximum length of a value on the page.
SHOWN = 90


class StoredSetting(NamedTuple):
    """A row of a setting, with who changed it last and when."""

    row: rows.Config
    #: The channel, tool code, purpose … of the row; blank for all.
    qualifier: str
    by: str
    at: Any


@dataclass(frozen=True)
class SettingLine:
    setting: Setting[Any]
    reading: live_settings.SettingInForce[Any]
    #: Its row without a qualifier, even if disabled.
    stored: StoredSetting | None
    #: Its rows with qualifiers.
    qualified: tuple[StoredSetting, ...]

    @property
    def anchor(self) -> str:
        return self.setting.name.replace("/", "-")

    @property
    def value(self) -> str:
        """The value in force as text."""
        if self.setting.kind.name == "country" and self.reading.value:
            return f"{name_country(self.reading.value)} ({self.reading.value})"
        if self.reading.raw is not None and not self.reading.problem:
            return self.reading.raw
        return format_value(self.setting.kind, self.reading.value)

    @property
    def is_long(self) -> bool:
        """True for a value that takes more than one line."""
        return len(self.value) > SHOWN or "\n" in self.value

    @property
    def default(self) -> str:
        return format_value(self.setting.kind, self.setting.default)

    @property
    def is_changed(self) -> bool:
        """True when something other than the built-in default is in force, for all or for some."""
        return self.reading.source != "DEFAULT" or bool(self.qualified)

    @property
    def variable(self) -> str:
        """The environment variable of the deployment's default."""
        return f"CE_CFG__{self.setting.type}__{self.setting.key}".upper()

    @property
    def allowed(self) -> str:
        return describe_allowed_values(self.setting.kind)

    @cached_property
    def words(self) -> str:
        """The text for the search."""
        parts = (
            self.setting.label,
            self.setting.name,
            TITLES.get(self.setting.type, ""),
            self.setting.help,
            self.value,
        )
        return " ".join((*parts, *(stored.row.config_key for stored in self.qualified))).lower()


class SettingsOfType(NamedTuple):
    type: str
    title: str
    lines: Sequence[SettingLine]


class EditedSetting(NamedTuple):
    setting: Setting[Any]
    qualifier: str

    @property
    def key(self) -> str:
        return f"{self.setting.key}.{self.qualifier}" if self.qualifier else self.setting.key

    @property
    def label(self) -> str:
        return f"{self.setting.label} (only for {self.qualifier})" if self.qualifier else self.setting.label

    @property
    def name(self) -> str:
        return f"{self.setting.type}/{self.key}"


def show_settings(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The page, with the form of one setting in its place; or the result of that form."""
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    with record_request(request):
        edited = _read_edited_setting(request)
        form = _make_form(model_admin, request, edited) if edited else None
        if edited and form is not None and request.method == "POST" and form.is_valid():
            row = form.save(commit=False)
            model_admin.save_model(request, row, form, change=row.pk is not None)
            message = f"“{edited.label}” is now {shorten_line(row.config_value, 60) or 'blank'}."
            model_admin.message_user(request, message, messages.SUCCESS)
            return HttpResponseRedirect(settings_url(edited.setting))
        context = _build_context(model_admin, request, edited, form)
        return TemplateResponse(request, "config_admin/settings.html", context)


def _read_edited_setting(request: HttpRequest) -> EditedSetting | None:
    name = request.GET.get("edit", "")
    if not name:
        return None
    type_, _, rest = name.partition("/")
    key, _, qualifier = rest.partition(".")
    setting = CATALOGUE.get((type_.upper(), key.upper()))
    if setting is None:
        raise Http404(f"The setting {name} does not exist.")
    return EditedSetting(setting, qualifier.strip())


def _make_form(model_admin: Any, request: HttpRequest, edited: EditedSetting) -> Any:
    stored = _get_stored_value(get_editor_context(request).snapshot, edited)
    model: Any = control_plane()["ce_config"]
    row = model.objects.get(pk=stored.pk) if stored else None
    adding = row is None
    if not (model_admin.has_add_permission(request) if adding else model_admin.has_change_permission(request, row)):
        raise PermissionDenied
    row = row or model(config_type=edited.setting.type, config_key=edited.key, config_value="")
    if model_admin.is_reserved(request, edited.setting):
        raise PermissionDenied(f"“{edited.setting.label}” can only be changed by configuration administrators.")
    translated = () if adding else model_admin.get_translations(request, row).make_fields()
    fields = ("config_value", *translated, "reason")
    kind = model_admin.get_form(request, None if adding else row, not adding, fields=fields)
    kind.base_fields["config_value"] = value_field(edited.setting)
    # The row's own text, else the value in force.
    reading = live_settings.read(get_editor_context(request).snapshot, edited.setting, edited.qualifier or None)
    text = row.config_value if row.pk else format_value(edited.setting.kind, reading.value)
    initial = {"config_value": to_choice(edited.setting, text)}
    form = kind(request.POST if request.method == "POST" else None, instance=row, initial=initial)
    # A given value should apply, even if the row was disabled.
    form.instance.enabled = True
    return form


def _get_stored_value(snapshot: Snapshot, edited: EditedSetting) -> Any:
    line = get_setting_line(snapshot, edited.setting)
    entries = [line.stored, *line.qualified] if line.stored else line.qualified
    wanted = edited.qualifier.upper()
    return next((stored.row for stored in entries if stored and stored.qualifier.upper() == wanted), None)


def _build_context(model_admin: Any, request: HttpRequest, edited: EditedSetting | None, form: Any) -> dict[str, Any]:
    snapshot = get_editor_context(request).snapshot
    setting_lines = list_setting_lines(snapshot)
    wanted, changed = request.GET.get("q", "").strip(), "changed" in request.GET
    words, open_setting = wanted.lower().split(), edited.setting if edited else None
    shown = [line for line in setting_lines if line.setting is open_setting or _matches_search(line, words, changed)]
    families = groupby(shown, key=lambda line: line.setting.type)
    may = model_admin.has_change_permission(request) and model_admin.has_add_permission(request)
    return {
        "title": "Settings",
        "families": [SettingsOfType(type_, TITLES.get(type_, type_), list(members)) for type_, members in families],
        "shown": len(shown),
        "all": len(setting_lines),
        "strangers": [] if wanted or changed else list_unknown_settings(snapshot),
        "wanted": wanted,
        "changed": changed,
        # For links that keep the search.
        "search_query": urlencode({name: request.GET[name] for name in ("q", "changed") if name in request.GET}),
        "edited": edited,
        "form": form,
        "may": {line.setting.name for line in shown if may and not model_admin.is_reserved(request, line.setting)},
        "in_force": snapshot.config_version,
    }


def _matches_search(line: SettingLine, words: Sequence[str], changed: bool) -> bool:
    return all(word in line.words for word in words) and (line.is_changed or not changed)


def list_setting_lines(snapshot: Snapshot) -> list[SettingLine]:
    """Every setting of the catalogue by family. One query: who changed the rows."""
    stored = _group_stored_values(snapshot)
    return [_build_line(snapshot, setting, stored.get(setting, ())) for setting in list_settings()]


def get_setting_line(snapshot: Snapshot, setting: Setting[Any]) -> SettingLine:
    return _build_line(snapshot, setting, _group_stored_values(snapshot, [setting]).get(setting, ()))


def list_unknown_settings(snapshot: Snapshot) -> list[rows.Config]:
    """Rows that nothing reads: of unknown settings, or under an older name."""
    return [row for row in snapshot.rows(rows.Config) if _find_read_setting(row) is None]


def list_settings() -> list[Setting[Any]]:
    """Every setting by family; those of a deployment without a title are last."""
    order = {type_: index for index, type_ in enumerate(TITLES)}
    return sorted(CATALOGUE.values(), key=lambda each: (order.get(each.type, len(order)), each.type))


def _build_line(snapshot: Snapshot, setting: Setting[Any], entries: Iterable[StoredSetting]) -> SettingLine:
    by_qualifier = {stored.qualifier: stored for stored in entries}
    plain = by_qualifier.pop("", None)
    qualified = tuple(by_qualifier[qualifier] for qualifier in sorted(by_qualifier))
    return SettingLine(setting, live_settings.read(snapshot, setting), plain, qualified)


def _group_stored_values(
    snapshot: Snapshot, wanted: Collection[Setting[Any]] | None = None
) -> dict[Setting[Any], list[StoredSetting]]:
    read = ((row, _find_read_setting(row)) for row in snapshot.rows(rows.Config))
    named = [(row, setting) for row, setting in read if setting and (wanted is None or setting in wanted)]
    authors = control_plane()["ce_config"]._default_manager.values_list("pk", "updated_by", "updated_at")
    who = {pk: (by, at) for pk, by, at in authors.filter(pk__in=[row.pk for row, _ in named])}
    stored: dict[Setting[Any], list[StoredSetting]] = {}
    for row, setting in named:
        by, at = who.get(row.pk, ("", None))
        stored.setdefault(setting, []).append(StoredSetting(row, row.config_key.strip().partition(".")[2], by, at))
    return stored


def _find_read_setting(row: rows.Config) -> Setting[Any] | None:
    setting = find_setting(row)
    return setting if setting and setting.key == row.config_key.strip().partition(".")[0].upper() else None
