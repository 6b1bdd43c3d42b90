"""Starting a flow: a short form that makes an intent with all it needs, after a look at the rows that it would make."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import BaseFormSet, formset_factory
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from config_admin.admin.comparison.differences import label_of, name_of
from config_admin.admin.desk import desk_of
from config_admin.admin.places.concerning import told
from config_admin.admin.saving import reasons
from config_admin.admin.saving.recording import recorded
from config_admin.admin.saving.recording import told as told_release
from config_admin.admin.saving.returning import workspace_url
from config_admin.models import CeIntent, CeResponse, CeRule
from config_admin.releases.content import control_plane
from config_admin.snapshot.compile import row_of
from config_admin.snapshot.transfer import ImportRefused, load
from config_admin.starters.flows import Flow, Wanted, Wish, document
from convengine.domain import rows
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code

#: How many things a starter may ask for; more are added to the schema afterwards.
WISHES = 6
#: What can be asked for: how it is called, and its part of the schema.
KINDS: Mapping[str, tuple[str, dict[str, str]]] = {
    "text": ("Text", {}),
    "integer": ("Whole number", {"type": "integer"}),
    "number": ("Number", {"type": "number"}),
    "boolean": ("Yes or no", {"type": "boolean"}),
    "date": ("Date", {"format": "date"}),
    "email": ("E-mail address", {"format": "email"}),
    "phone": ("Phone number", {"format": "phone"}),
    "choice": ("One of these", {}),
}
_ASKING = f"{Flow.FORM} {Flow.LOOKUP}"
#: What begins a form for everything that a table's rows may be made of.
_NEEDED = (CeIntent, CeRule, CeResponse)


def _text(label: str, help: str, *, flows: str = "", lines: int = 1, required: bool = False) -> forms.CharField:
    attrs = {"data-flows": flows} if flows else {}
    widget = forms.Textarea(attrs={**attrs, "rows": lines}) if lines > 1 else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, help_text=help, required=required, widget=widget, max_length=4000)


class StartForm(forms.Form):
    """What kind of flow, for what, and the words in it."""

    flow = forms.ChoiceField(label="Kind of flow", choices=Flow.choices, widget=forms.RadioSelect, initial=Flow.FAQ)
    code = _text("Code", "Capital letters, digits and underscore, such as BOOK_TABLE.", required=True)
    name = _text("Name", "What users read where they are asked what they meant.", required=True)
    description = _text("When it applies", "In a sentence. A model chooses by it.", required=True)
    phrases = _text(
        "Phrases", "What users write, one a line. The words that tell matter, in their order.", lines=4, required=True
    )
    question = _text("First question", "Blank: it asks for the things below by their names.", flows=_ASKING)
    summary = _text(
        "Before the yes", "Blank: it sums up what is known. Names of things in {{ }}.", flows=Flow.FORM, lines=2
    )
    tool = forms.ChoiceField(label="Tool", required=False, help_text="It gets the things below by their names.")
    answer = _text("Answer", "What users get in the end. Names of things in {{ }}.", lines=3)

    def __init__(self, *args: Any, snapshot: Snapshot, **options: Any) -> None:
        super().__init__(*args, **options)
        self._snapshot = snapshot
        self.tools = {tool.tool_code: tool for tool in snapshot.enabled(rows.Tool)}
        tool: Any = self.fields["tool"]
        tool.choices = [
            ("", "Choose a tool"),
            *((one, f"{one} · {self.tools[one].description or ''}") for one in self.tools),
        ]
        tool.widget.attrs["data-flows"] = Flow.LOOKUP

    def clean_code(self) -> str:
        """A code that no intent has yet."""
        found = code(self.cleaned_data["code"])
        if self._snapshot.row(rows.Intent, found):
            raise forms.ValidationError(f"There is an intent {found} already. Choose another code.")
        return found

    def clean(self) -> dict[str, Any]:
        """What only some flows need."""
        found = super().clean() or self.cleaned_data
        if found.get("flow") == Flow.FAQ and not found.get("answer"):
            self.add_error("answer", "Write the answer to the question.")
        if found.get("flow") == Flow.LOOKUP and not found.get("tool"):
            self.add_error("tool", "Choose the tool that looks it up.")
        return found


class WishForm(forms.Form):
    """One thing to ask for."""

    label = forms.CharField(label="What", required=False, max_length=80)
    kind = forms.ChoiceField(
        label="Kind", choices=[(name, words) for name, (words, _) in KINDS.items()], required=False
    )
    choices = forms.CharField(label="Choices", required=False, max_length=400)

    def clean(self) -> dict[str, Any]:
        """Choices where there is something to choose."""
        found = super().clean() or self.cleaned_data
        if found.get("label") and found.get("kind") == "choice" and not _listed(found.get("choices", "")):
            self.add_error("choices", "Name the choices, separated by commas.")
        return found


_Wishes = formset_factory(WishForm, extra=WISHES, max_num=WISHES, absolute_max=WISHES)


def start(request: HttpRequest) -> HttpResponse:
    """The form; then what it would make; then what it made."""
    for model in _NEEDED:
        if not admin.site.get_model_admin(model).has_add_permission(request):
            raise PermissionDenied
    form = StartForm(request.POST or None, snapshot=desk_of(request).snapshot)
    wishes = _Wishes(request.POST or None, prefix="wish")
    shown, problems = [], []
    if request.method == "POST" and _usable(form, wishes):
        wanted = _wanted(form, wishes)
        if "_make" in request.POST and reasons.given(request):
            problems = _made(request, wanted)
            if not problems:
                return HttpResponseRedirect(workspace_url(wanted.code))
        shown = _shown(wanted)
    context = {
        **admin.site.each_context(request),
        "title": "Start a flow",
        "opts": CeIntent._meta,
        "form": form,
        "flows": [(flow.value, flow.label, flow.help) for flow in Flow],
        "wishes": wishes,
        "asking": _ASKING,
        "shown": shown,
        "problems": problems,
        "reason": reasons.given(request),
        "reason_missing": reasons.MISSING if "_make" in request.POST and not reasons.given(request) else "",
    }
    return TemplateResponse(request, "config_admin/start.html", context)


def _usable(form: StartForm, wishes: BaseFormSet) -> bool:
    """True when both are; a flow that asks needs something to ask for."""
    if not (form.is_valid() & wishes.is_valid()):
        return False
    if form.cleaned_data["flow"] in _ASKING.split() and not any(one.get("label") for one in wishes.cleaned_data):
        form.add_error(None, "Name at least one thing to ask for.")
        return False
    return True


def _wanted(form: StartForm, wishes: BaseFormSet) -> Wanted:
    said = form.cleaned_data
    asks = said["flow"] in _ASKING.split()
    found = [_wish(one) for one in wishes.cleaned_data if one.get("label")] if asks else []
    tool = form.tools.get(said["tool"])
    return Wanted(
        said["flow"],
        said["code"],
        said["name"],
        said["description"],
        tuple(line.strip() for line in said["phrases"].splitlines() if line.strip()),
        tuple(_apart(found)),
        said["question"],
        said["summary"],
        said["answer"],
        tool.tool_code if tool else "",
        tool.tool_group if tool else "",
    )


def _wish(said: Mapping[str, Any]) -> Wish:
    schema = KINDS[said["kind"] or "text"][1]
    choices = _listed(said["choices"]) if said["kind"] == "choice" else ()
    return Wish(
        _name(said["label"]), said["label"].strip(), schema.get("type", "string"), schema.get("format"), choices
    )


def _apart(wishes: Sequence[Wish]) -> Iterator[Wish]:
    """The wishes under names of their own: what is asked for twice, or in letters that no name has, is counted."""
    taken: set[str] = set()
    for wish in wishes:
        numbered = (f"{wish.name}{number}" for number in count(2))
        name = next(name for name in chain([wish.name], numbered) if name not in taken)
        taken.add(name)
        yield replace(wish, name=name)


def _name(label: str) -> str:
    """A field's name for what people call it: the number of guests, numberOfGuests; Größe is grosse."""
    said = re.sub(r"^(the|a|an|your)\s+", "", label.strip(), flags=re.I).replace("ß", "ss")
    plain = unicodedata.normalize("NFKD", said).encode("ascii", "ignore").decode()
    first, *rest = re.findall(r"[A-Za-z0-9]+", plain) or ["value"]
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return name if name[0].isalpha() else f"value{name}"


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _made(request: HttpRequest, wanted: Wanted) -> list[str]:
    """Store the rows as one release; why not, if they were refused."""
    try:
        with recorded(request):
            load(document(wanted), author=request.user.get_username(), reason=reasons.given(request))
            messages.success(request, told_release())
    except ImportRefused as refused:
        return [
            f"{name_of(one.table)}: {label_of(one.table, one.field or '')}: {one.message}" for one in refused.findings
        ]
    return []


def _shown(wanted: Wanted) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows that would be made, by table, as the workspace tells them."""
    made = document(wanted)
    models = {table: control_plane()[table] for table in made}
    return [
        (str(models[table]._meta.verbose_name_plural), [told(row_of(models[table](**values))) for values in found])
        for table, found in made.items()
    ]
