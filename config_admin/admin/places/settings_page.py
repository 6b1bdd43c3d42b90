"""The page of all settings: searched, read, and changed in place (settings 1)."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.admin.desk import desk_of
from config_admin.admin.editing.setting_fields import as_chosen, value_field
from config_admin.admin.places.effective import Line, as_written, line_of, lines, strangers
from config_admin.admin.saving.recording import recorded
from config_admin.models import CeConfig
from convengine.domain import settings
from convengine.domain.catalogue.families import TITLES
from convengine.domain.settings import CATALOGUE, Setting
from convengine.domain.snapshot import Snapshot


class Family(NamedTuple):
    """Settings that one reader asks for."""

    type: str
    title: str
    lines: Sequence[Line]


class Edited(NamedTuple):
    """The value that the request wants changed: a setting's, for all or for one qualifier."""

    setting: Setting[Any]
    qualifier: str

    @property
    def key(self) -> str:
        """The key of the row."""
        return f"{self.setting.key}.{self.qualifier}" if self.qualifier else self.setting.key

    @property
    def name(self) -> str:
        """How the address of the page names it."""
        return f"{self.setting.type}/{self.key}"


def settings_url(setting: Setting[Any] | None = None) -> str:
    """The page, at a setting."""
    anchor = f"#{setting.name.replace('/', '-')}" if setting else ""
    return reverse("admin:config_admin_ceconfig_effective") + anchor


def show(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """The page, with the form of one setting in its place; or what became of that form."""
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    with recorded(request):
        edited = _edited(request)
        form = _form(model_admin, request, edited) if edited else None
        if edited and form is not None and request.method == "POST" and form.is_valid():
            row = form.save(commit=False)
            model_admin.save_model(request, row, form, change=row.pk is not None)
            told = f"{edited.name} is {_shortly(row.config_value)} now."
            model_admin.message_user(request, told, messages.SUCCESS)
            return HttpResponseRedirect(settings_url(edited.setting))
        return TemplateResponse(
            request, "config_admin/settings.html", _context(model_admin, request, edited, form)
        ).render()


def _edited(request: HttpRequest) -> Edited | None:
    name = request.GET.get("edit", "")
    if not name:
        return None
    type_, _, rest = name.partition("/")
    key, _, qualifier = rest.partition(".")
    setting = CATALOGUE.get((type_.upper(), key.upper()))
    if setting is None:
        raise Http404(f"There is no setting {name}.")
    return Edited(setting, qualifier.strip())


def _form(model_admin: Any, request: HttpRequest, edited: Edited) -> Any:
    stored = _stored(desk_of(request).snapshot, edited)
    row = CeConfig.objects.get(pk=stored.pk) if stored else None
    adding = row is None
    if not (model_admin.has_add_permission(request) if adding else model_admin.has_change_permission(request, row)):
        raise PermissionDenied
    row = row or CeConfig(config_type=edited.setting.type, config_key=edited.key, config_value="")
    if model_admin.is_reserved(request, edited.setting):
        raise PermissionDenied
    kind = model_admin.get_form(request, None if adding else row, not adding, fields=("config_value", "reason"))
    kind.base_fields["config_value"] = value_field(edited.setting)
    initial = {"config_value": _begin(desk_of(request).snapshot, edited, row)}
    form = kind(request.POST if request.method == "POST" else None, instance=row, initial=initial)
    # Whoever gives a value wants it in force, also where the row was switched off.
    form.instance.enabled = True
    return form


def _stored(snapshot: Snapshot, edited: Edited) -> Any:
    line = line_of(snapshot, edited.setting)
    found = [line.stored, *line.qualified] if line.stored else line.qualified
    wanted = edited.qualifier.upper()
    return next((stored.row for stored in found if stored and stored.qualifier.upper() == wanted), None)


def _begin(snapshot: Snapshot, edited: Edited, row: CeConfig) -> str:
    """What the input says at first: the row's own text, else what is in force."""
    reading = settings.read(snapshot, edited.setting, edited.qualifier or None)
    text = row.config_value if row.pk else as_written(edited.setting.kind, reading.value)
    return as_chosen(edited.setting, text)


def _context(model_admin: Any, request: HttpRequest, edited: Edited | None, form: Any) -> dict[str, Any]:
    snapshot = desk_of(request).snapshot
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
        "kept": _kept(request),
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


def _kept(request: HttpRequest) -> str:
    """The search, for links that stay in it."""
    kept = QueryDict(mutable=True)
    for name in ("q", "changed"):
        if name in request.GET:
            kept[name] = request.GET[name]
    return kept.urlencode()


def _shortly(text: str) -> str:
    line = " ".join(text.split()) or "blank"
    return line if len(line) <= 60 else f"{line[:59]}…"
