"""The page *Words*: every use of a word, and the releases that replace it or take it out."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing.confirmation import ConfirmationQuestion, Refusal, confirm_rows
from config_admin.editing.context import get_editor_context
from config_admin.editing.links import list_visible_tables
from config_admin.flows.words.matching import SoughtWord
from config_admin.flows.words.uses import WordUse, list_uses, list_uses_in_tests, plan_removal, plan_replacement
from config_admin.releases.restore_rows import restore_rows
from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn.rows import Response
from convengine.server.admin_site.pages import SidebarEntry, page

#: Uses on one page, and rows and sentences that a confirmation names.
PER_PAGE, NAMED = 25, 30
#: The button that was pressed.
_REPLACE, _TAKE_OUT = "replace", "take_out"
RIGHT = "config_admin.view_ceresponse"


class WordForm(forms.Form):
    word = forms.CharField(label="Word", max_length=80)
    inside = forms.BooleanField(label="Also inside other words, such as the plural", required=False)

    def sought(self) -> SoughtWord:
        return SoughtWord(self.cleaned_data["word"], self.cleaned_data["inside"])


class ChangeForm(WordForm):
    """The word, and what to write instead."""

    new = forms.CharField(label="Write instead", max_length=200, required=False)
    do = forms.ChoiceField(choices=[(_REPLACE, "Replace"), (_TAKE_OUT, "Take out")])

    def clean(self) -> dict[str, Any]:
        """A replacement needs a word that is another one."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("do") == _REPLACE and cleaned.get("new", "") in ("", cleaned.get("word")):
            self.add_error("new", "Enter another word to write instead, or take the word out.")
        return cleaned


@page(
    "words/",
    of="config_admin.CeResponse",
    right=RIGHT,
    entry=SidebarEntry("Answers", "Words", "Every use of a word, to replace it or take it out."),
)
def words_page(request: HttpRequest) -> HttpResponse:
    """The uses of a word; a POST asks what would change, and with a reason it is changed as one release."""
    if request.method != "POST":
        return _render_uses(request, WordForm(request.GET if "word" in request.GET else None), ChangeForm())
    form = ChangeForm(request.POST)
    return _confirm_change(request, form) if form.is_valid() else _render_uses(request, WordForm(request.POST), form)


def _render_uses(request: HttpRequest, form: WordForm, change: ChangeForm) -> HttpResponse:
    """The page with the uses of the sought word that the user may see."""
    uses: list[WordUse] = []
    if form.is_bound and form.is_valid():
        uses = list_uses(get_editor_context(request).snapshot, form.sought(), list_visible_tables(request))
        if request.user.has_perm("config_admin.view_cetestcase"):
            uses += list_uses_in_tests(form.sought())
    shown = Paginator(uses, PER_PAGE).get_page(request.GET.get("page"))
    texts = sum(use.is_text for use in uses)
    context = {
        "title": "Words",
        "form": form,
        "change": change,
        "word": form.cleaned_data.get("word", "") if form.is_bound else "",
        "inside": bool(form.is_bound and form.cleaned_data.get("inside")),
        "page": shown,
        "uses": len(uses),
        "texts": texts,
        "by_hand": len(uses) - texts,
        "query": urlencode({name: text for name, text in request.GET.items() if name != "page"}),
    }
    return TemplateResponse(request, "config_admin/words.html", context)


def _confirm_change(request: HttpRequest, form: ChangeForm) -> HttpResponse:
    """Ask before the word is replaced or removed in all texts; when confirmed, do it and return to the list."""
    word, new, do = form.sought(), form.cleaned_data["new"], form.cleaned_data["do"]
    editor, tables = get_editor_context(request), list_visible_tables(request)
    back_url = f"{reverse('admin:config_admin_ceresponse_words')}?{urlencode(_build_query(word))}"
    uses = list_uses(editor.snapshot, word, tables)
    is_removal = do == _TAKE_OUT
    wanted = (
        plan_removal(editor.snapshot, word, tables)
        if is_removal
        else plan_replacement(editor.snapshot, word, new, tables)
    )
    title = f"Take “{word.text}” out of all texts" if is_removal else f"Replace “{word.text}” by “{new}” in all texts"
    count = sum(map(len, wanted.values()))
    verb = f"{'lose' if is_removal else 'get'}{pluralize(count, 's,')}"
    what = "the word where that leaves no hole in a sentence" if is_removal else "the other word"
    # They stay as they are: somebody has to mend them.
    holes = [(use.url, f"{use.name}, {use.location}: {hole}") for use in uses for hole in use.holes if is_removal]
    stay = pluralize(len(holes), "stays as it is,stay as they are")
    mend = f"To be mended by hand: {len(holes)} sentence{pluralize(len(holes))} would have a hole, and {stay}"
    by_hand = [(use.url, f"{use.name}, {use.location}") for use in uses if not use.is_text]
    question = ConfirmationQuestion(
        title=title,
        intro=f"{count} row{pluralize(count)} {verb} {what}, in one release. Values, codes and tests are not changed.",
        answer="Take out" if is_removal else "Replace",
        back_url=back_url,
        inputs=[*_build_query(word).items(), ("new", new), ("do", do)],
        notes=[
            *_note(mend, holes),
            *_note(f"Values and names with the word, which are not changed: {len(by_hand)}", by_hand),
        ],
        reason=title,
        unchanged="No text changes by this. The word is left only in what is listed below.",
    )
    opts = control_plane()[Response.table]._meta
    preview = confirm_rows(request, question, wanted, lambda: restore_rows(wanted, checked=False), opts)
    return preview or HttpResponseRedirect(back_url)


def _build_query(word: SoughtWord) -> dict[str, str]:
    return {"word": word.text, **({"inside": "on"} if word.inside else {})}


def _note(text: str, links: list[tuple[str, str]]) -> list[Refusal]:
    if not links:
        return []
    return [Refusal(f"{text}. The first {NAMED}:" if len(links) > NAMED else text, links[:NAMED])]
