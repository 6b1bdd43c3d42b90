"""The page of all settings: search, read, and edit in place (settings 1)."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.context import get_editor_context
from config_admin.editing.setting_fields import to_choice, value_field
from config_admin.form_save.request_change_set import record_request
from config_admin.releases.content import control_plane
from config_admin.validation.settings import format_value
from config_admin.workplace.settings_in_force import Line, line_of, lines, strangers
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn import live_settings
from convengine.engine.turn.live_settings import CATALOGUE, Setting
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.settings_catalogue import TITLES


class Family(NamedTuple):
    """The settings of one type."""

    type: str
    title: str
    lines: Sequence[Line]


class Edited(NamedTuple):
    """The setting that the request edits, for all or for one qualifier."""

    setting: Setting[Any]
    qualifier: str

    @property
    def key(self) -> str:
        """The key of the row."""
        return f"{self.setting.key}.{self.qualifier}" if self.qualifier else self.setting.key

    @property
    def name(self) -> str:
        """Its name in the address of the page."""
        return f"{self.setting.type}/{self.key}"


def settings_url(setting: Setting[Any] | None = None) -> str:
    """The address of the page at a setting."""
    anchor = f"#{setting.name.replace('/', '-')}" if setting else ""
    return reverse("admin:config_admin_ceconfig_effective") + anchor


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The page, with the form of one setting in its place; or the result of that form."""
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    with record_request(request):
        edited = _read_edited_setting(request)
        form = _form(model_admin, request, edited) if edited else None
        if edited and form is not None and request.method == "POST" and form.is_valid():
            row = form.save(commit=False)
            model_admin.save_model(request, row, form, change=row.pk is not None)
            told = f"{edited.name} is now {_shortly(row.config_value)}."
            model_admin.message_user(request, told, messages.SUCCESS)
            return HttpResponseRedirect(settings_url(edited.setting))
        return TemplateResponse(
            request, "config_admin/settings.html", _context(model_admin, request, edited, form)
        ).render()


def _read_edited_setting(request: HttpRequest) -> Edited | None:
    name = request.GET.get("edit", "")
    if not name:
        return None
    type_, _, rest = name.partition("/")
    key, _, qualifier = rest.partition(".")
    setting = CATALOGUE.get((type_.upper(), key.upper()))
    if setting is None:
        raise Http404(f"The setting {name} does not exist.")
    return Edited(setting, qualifier.strip())


def _form(model_admin: Any, request: HttpRequest, edited: Edited) -> Any:
    stored = _get_stored_value(get_editor_context(request).snapshot, edited)
    model: Any = control_plane()["ce_config"]
    row = model.objects.get(pk=stored.pk) if stored else None
    adding = row is None
    if not (model_admin.has_add_permission(request) if adding else model_admin.has_change_permission(request, row)):
        raise PermissionDenied
    row = row or model(config_type=edited.setting.type, config_key=edited.key, config_value="")
    if model_admin.is_reserved(request, edited.setting):
        raise PermissionDenied
    kind = model_admin.get_form(request, None if adding else row, not adding, fields=("config_value", "reason"))
    kind.base_fields["config_value"] = value_field(edited.setting)
    initial = {"config_value": _begin(get_editor_context(request).snapshot, edited, row)}
    form = kind(request.POST if request.method == "POST" else None, instance=row, initial=initial)
    # A given value should apply, even if the row was disabled.
    form.instance.enabled = True
    return form


def _get_stored_value(snapshot: Snapshot, edited: Edited) -> Any:
    line = line_of(snapshot, edited.setting)
    found = [line.stored, *line.qualified] if line.stored else line.qualified
    wanted = edited.qualifier.upper()
    return next((stored.row for stored in found if stored and stored.qualifier.upper() == wanted), None)


def _begin(snapshot: Snapshot, edited: Edited, row: Any) -> str:
    """The initial text of the input: the row's own, else the value in force."""
    reading = live_settings.read(snapshot, edited.setting, edited.qualifier or None)
    text = row.config_value if row.pk else format_value(edited.setting.kind, reading.value)
    return to_choice(edited.setting, text)


def _context(model_admin: Any, request: HttpRequest, edited: Edited | None, form: Any) -> dict[str, Any]:
    snapshot = get_editor_context(request).snapshot
    found = lines(snapshot)
    wanted, changed = request.GET.get("q", "").strip(), "changed" in request.GET
    shown = [line for line in found if _fits(line, wanted.lower().split(), changed) or _is_edited(line, edited)]
    may = model_admin.has_change_permission(request) and model_admin.has_add_permission(request)
    return {
        **model_admin.admin_site.each_context(request),
        "title": "Settings",
        "opts": model_admin.opts,
        "families": list(_families(shown)),
        "shown": len(shown),
        "all": len(found),
        "strangers": [] if wanted or changed else strangers(snapshot),
        "wanted": wanted,
        "changed": changed,
        "kept": _get_search_query(request),
        "edited": edited,
        "form": form,
        "may": {line.setting.name for line in shown if may and not model_admin.is_reserved(request, line.setting)},
        "in_force": snapshot.config_version,
    }


def _families(found: Sequence[Line]) -> Iterator[Family]:
    for type_, members in groupby(found, key=lambda line: line.setting.type):
        yield Family(type_, TITLES.get(type_, type_), list(members))


def _fits(line: Line, words: Sequence[str], changed: bool) -> bool:
    return all(word in line.words for word in words) and (line.is_changed or not changed)


def _is_edited(line: Line, edited: Edited | None) -> bool:
    return edited is not None and line.setting is edited.setting


def _get_search_query(request: HttpRequest) -> str:
    """The search, for links that keep it."""
    kept = QueryDict(mutable=True)
    for name in ("q", "changed"):
        if name in request.GET:
            kept[name] = request.GET[name]
    return kept.urlencode()


def _shortly(text: str) -> str:
    return shorten_line(text, 60) or "blank"
