"""The page *Languages*: all texts side by side with their translations, to fill in or to exchange as files."""

import json
from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.confirmation import ConfirmationQuestion, confirm_rows
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import find_readable_url, list_visible_tables
from config_admin.flows.translations.catalogue import (
    SpokenText,
    TextState,
    Translation,
    describe_language,
    list_locales,
    list_spoken_texts,
    plan_translations,
)
from config_admin.flows.translations.drafts import NoDrafts, draft_translations
from config_admin.flows.translations.files import KINDS, MAX_BYTES, MAX_TEXTS, read_file, write_file
from config_admin.releases.restore_rows import restore_rows
from config_admin.transfer.document import FileRefused
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.compare import norm
from convengine.engine.turn.local_time import find_language_code
from convengine.engine.turn.rows import Response
from convengine.server import wiring
from convengine.server.admin_site.pages import SidebarEntry, page

PER_PAGE = 25
RIGHT = "config_admin.view_ceresponse"
#: The name of an input of a text begins with it.
_TEXT = "text:"


class FilterForm(forms.Form):
    """Which texts are shown."""

    language = forms.CharField(required=False)
    state = forms.ChoiceField(choices=[("", "All texts"), *TextState.choices()], required=False)
    q = forms.CharField(label="Words in a text or in the name of its row", max_length=200, required=False)


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text=f"CSV or XLIFF 1.2, at most {MAX_TEXTS:,} texts and {MAX_BYTES // 1024 // 1024} MB.",
        widget=forms.FileInput(attrs={"accept": ".csv,.xlf,.xliff,.xml"}),
    )


@page(
    "languages/",
    of="config_admin.CeResponse",
    right=RIGHT,
    entry=SidebarEntry("Answers", "Languages", "All texts and their translations."),
)
def languages(request: HttpRequest) -> HttpResponse:
    """The texts of a language; a POST asks what would change, and with a reason it is changed as one release."""
    if request.method != "POST":
        return _render(request, request.GET)
    language = request.POST.get("language", "")
    if _find_chosen(list_locales(get_editor_context(request).snapshot), language) != language:
        problem = f"This workspace has no translations into “{language}”. Choose a language of the list."
        return _render(request, request.POST, problem)
    if "_upload" in request.POST:
        upload = UploadForm(request.POST, request.FILES)
        if not upload.is_valid():
            return _render(request, request.POST, " ".join(map(str, upload.errors["file"])))
        sent = upload.cleaned_data["file"]
        try:
            return _confirm(request, read_file(sent.name, sent.read(MAX_BYTES + 1), language))
        except FileRefused as refused:
            return _render(request, request.POST, f"{refused.position} {refused.problem}")
    if "texts" in request.POST:
        return _confirm(request, _read_texts(request.POST["texts"]))
    if "_draft" in request.POST:
        return _draft(request)
    given = ((name, str(text)) for name, text in request.POST.items() if name.startswith(_TEXT))
    return _confirm(request, {name.removeprefix(_TEXT): Translation(text) for name, text in given})


def _read_texts(sent: str) -> dict[str, Translation]:
    """The texts that the confirmation sends back."""
    try:
        return {
            key: Translation(str(text), str(of), is_draft is True)
            for key, (text, of, is_draft) in json.loads(sent).items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}


def _draft(request: HttpRequest) -> HttpResponse:
    """Ask the model for what is missing or has changed on the page, and the user before the drafts are stored."""
    locales = list_locales(get_editor_context(request).snapshot)
    language = _find_chosen(locales, request.POST.get("language", ""))
    on_page = {name.removeprefix(_TEXT) for name in request.POST if name.startswith(_TEXT)}
    texts = [
        text for text in _list_visible(request, language) if text.key in on_page and text.is_to_do and not text.offered
    ]
    try:
        drafts = draft_translations(texts, describe_language(locales[0]), describe_language(language))
    except NoDrafts as problem:
        return _render(request, request.POST, str(problem))
    return _confirm(request, drafts)


def _render(request: HttpRequest, given: Any, problem: str = "") -> HttpResponse:
    snapshot = get_editor_context(request).snapshot
    locales, form = list_locales(snapshot), FilterForm(given)
    chosen = form.cleaned_data if form.is_valid() else {}
    named = {find_language_code(locale): describe_language(locale) for locale in locales}
    language = _find_chosen(locales, str(chosen.get("language", "")))
    texts = _list_visible(request, language) if language else []
    counts = Counter(text.state for text in texts)
    state, words = chosen.get("state", ""), norm(str(chosen.get("q", "")))
    shown = [
        text for text in texts if state in ("", text.state) and words in norm(f"{text.source} {text.text} {text.name}")
    ]
    page_of_texts = Paginator(shown, PER_PAGE).get_page(given.get("page"))
    first, *others = named.items() or [("", "")]
    context = {
        "title": "Languages",
        "first_language": first[0],
        "first": first[1],
        "languages": others,
        "language": language,
        "language_name": named.get(language, ""),
        "states": [(each, each.label, counts[each]) for each in TextState],
        "form": form,
        "state": state,
        "q": chosen.get("q", ""),
        "page": page_of_texts,
        "lines": [(text, find_readable_url(request, text.row.table, text.row.pk)) for text in page_of_texts],
        "all": len(texts),
        "upload": UploadForm(),
        "problem": problem,
        "kinds": list(KINDS),
        "may_draft": wiring.model().configured and any(text.is_to_do for text in page_of_texts),
        "may_change": request.user.has_perm("config_admin.change_ceresponse"),
        "settings_url": f"{reverse('admin:config_admin_ceconfig_effective')}?q=LANGUAGES",
        "query": urlencode({"language": language, "state": state, "q": chosen.get("q", "")}),
    }
    return TemplateResponse(request, "config_admin/languages.html", context)


def _find_chosen(locales: tuple[str, ...], language: str) -> str:
    """The language that is shown: the chosen one, else the first that texts are translated into; blank for none."""
    others = [find_language_code(locale) for locale in locales[1:]]
    code = find_language_code(language)
    return code if code in others else next(iter(others), "")


def _list_visible(request: HttpRequest, language: str) -> list[SpokenText]:
    tables = list_visible_tables(request)
    return [
        text for text in list_spoken_texts(get_editor_context(request).snapshot, language) if text.row.table in tables
    ]


def _confirm(request: HttpRequest, texts: dict[str, Translation]) -> HttpResponse:
    """Ask before the translations are stored; when confirmed, store them and return to the list."""
    snapshot = get_editor_context(request).snapshot
    language = _find_chosen(list_locales(snapshot), request.POST.get("language", ""))
    visible = {text.key for text in _list_visible(request, language)}
    unknown = [key for key in texts if key not in visible]
    known = {key: text for key, text in texts.items() if key in visible}
    wanted, are_drafts = plan_translations(snapshot, language, known), any(text.is_draft for text in known.values())
    count = sum(map(len, wanted.values()))
    query = urlencode({name: request.POST.get(name, "") for name in ("language", "state", "q", "page")})
    back_url = f"{reverse('admin:config_admin_ceresponse_languages')}?{query}"
    name = describe_language(language)
    number = len(unknown)
    missing = f"{number} text{pluralize(number)} of the file {pluralize(number, 'does,do')} not exist any more"
    skipped = f" {missing} and {pluralize(number, 'is,are')} left out." if unknown else ""
    question = ConfirmationQuestion(
        title=f"Translate texts into {name}",
        intro=f"{count} row{pluralize(count)} get{pluralize(count, 's,')} translations, in one release.{skipped}",
        answer="Save translations",
        back_url=back_url,
        inputs=[("language", language), ("texts", json.dumps(texts, ensure_ascii=False))],
        reason=f"{'Drafts of translations' if are_drafts else 'Translations'} into {name}",
        unchanged=f"No translation changes by this.{skipped}",
    )
    opts = control_plane()[Response.table]._meta
    preview = confirm_rows(request, question, wanted, lambda: restore_rows(wanted, checked=True), opts)
    return preview or HttpResponseRedirect(back_url)


@page("languages/<str:name>", of="config_admin.CeResponse", name="languages_file", methods=("GET",), right=RIGHT)
def download_texts(request: HttpRequest, name: str) -> HttpResponse:
    """The texts of a language as a file, such as `de.xlf`."""
    language, _, kind = name.partition(".")
    locales = list_locales(get_editor_context(request).snapshot)
    if kind not in KINDS or _find_chosen(locales, language) != language:
        return HttpResponseRedirect("../")
    texts = _list_visible(request, language)
    data = write_file(texts, find_language_code(locales[0]), language, kind)
    headers = {"Content-Disposition": f'attachment; filename="texts-{language}.{kind}"'}
    return HttpResponse(data, content_type=KINDS[kind], headers=headers)
