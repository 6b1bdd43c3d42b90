"""Start a flow: a short form that makes an intent, with a preview of its rows."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.forms import BaseFormSet, formset_factory
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import column_label, table_label, workspace_url
from config_admin.flows.flows import FlowKind, FlowRefused, Values, write_rows
from config_admin.form_save import reasons
from config_admin.form_save.request_change_set import describe_new_release as told_release
from config_admin.form_save.request_change_set import record_request
from config_admin.releases.content import control_plane
from config_admin.snapshot.compile import row_of
from config_admin.transfer.apply_import import ImportRefused, add_rows
from config_admin.workplace.intent_overview import describe_row
from convengine.engine.forms.asking import find_language, get_texts
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

#: How many fields a new flow may have; more can be added later.
WISHES = 6
#: The types of fields, with their labels.
TYPES: Mapping[str, str] = {
    "text": "Text",
    "choice": "Choice",
    "date": "Date",
    "time": "Time",
    "datetime": "Date and time",
    "duration": "Duration",
    "number": "Number",
    "money": "Amount of money",
    "phone": "Phone number",
    "email": "E-mail address",
    "postcode": "Post code",
    "iban": "IBAN",
    "yes_no": "Yes or no",
}
_ASKING = f"{FlowKind.collect} {FlowKind.lookup}"
#: The first part of a form for everything that a table's rows need.
#: Words before the title of a field that do not belong to it.
_ARTICLE = re.compile(r"^(the|a|an|your)\s+", re.IGNORECASE)
_NEEDED = ("ce_intent", "ce_rule", "ce_response")


def _text(label: str, help: str, *, flows: str = "", lines: int = 1, required: bool = False) -> forms.CharField:
    attrs = {"data-flows": flows} if flows else {}
    widget = forms.Textarea(attrs={**attrs, "rows": lines}) if lines > 1 else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, help_text=help, required=required, widget=widget, max_length=4000)


class StartForm(forms.Form):
    """The kind of flow, its subject, and its texts."""

    flow = forms.ChoiceField(
        label="Type of flow", choices=FlowKind.choices, widget=forms.RadioSelect, initial=FlowKind.answer
    )
    code = _text("Code", "Capital letters, digits and underscores, such as BOOK_TABLE.", required=True)
    name = _text("Name", "Shown to users when they choose between intents.", required=True)
    description = _text("When it applies", "One sentence. A model chooses the intent by it.", required=True)
    phrases = _text(
        "Phrases",
        "Examples of what users write, one per line, as they type it. Telling words count, in any order.",
        lines=4,
        required=True,
    )
    summary = _text(
        "Confirmation",
        "The question for a yes or no. If empty, it repeats all values. Use {{ }} for field names.",
        flows=FlowKind.collect,
        lines=2,
    )
    tool = forms.ChoiceField(label="Tool", required=False, help_text="The tool receives the fields below by name.")
    answer = _text("Answer", "The final answer to the user. Use {{ }} for field names.", lines=3)

    def __init__(self, *args: Any, snapshot: Snapshot, **options: Any) -> None:
        super().__init__(*args, **options)
        self._snapshot = snapshot
        self.tools = {tool.tool_code: tool for tool in snapshot.enabled_rows(rows.Tool)}
        tool: Any = self.fields["tool"]
        tool.choices = [
            ("", "Choose a tool"),
            *((tool_code, f"{tool_code} · {self.tools[tool_code].description or ''}") for tool_code in self.tools),
        ]
        tool.widget.attrs["data-flows"] = FlowKind.lookup

    def clean_code(self) -> str:
        """A code that no intent has yet."""
        intent_code = code(self.cleaned_data["code"])
        if self._snapshot.row(rows.Intent, intent_code):
            raise forms.ValidationError(f"The intent {intent_code} already exists. Choose another code.")
        return intent_code

    def clean(self) -> dict[str, Any]:
        """Fields that only some flows need."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("flow") == FlowKind.answer and not cleaned.get("answer"):
            self.add_error("answer", "Enter the answer.")
        if cleaned.get("flow") == FlowKind.lookup and not cleaned.get("tool"):
            self.add_error("tool", "Choose a tool.")
        return cleaned


class WishForm(forms.Form):
    """One field to collect."""

    label = forms.CharField(label="Field", required=False, max_length=80)
    kind = forms.ChoiceField(label="Type", choices=list(TYPES.items()), required=False)
    question = forms.CharField(label="Question", required=False, max_length=400)
    choices = forms.CharField(label="Choices", required=False, max_length=400)

    def clean(self) -> dict[str, Any]:
        """Choices, if the type needs them."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("label") and cleaned.get("kind") == "choice" and not _split_choices(cleaned.get("choices", "")):
            self.add_error("choices", "Enter the choices, separated by commas.")
        return cleaned


_Wishes = formset_factory(WishForm, extra=WISHES, max_num=WISHES, absolute_max=WISHES)


def start(request: HttpRequest) -> HttpResponse:
    """The form, then the preview, then the result."""
    for model in (control_plane()[table] for table in _NEEDED):
        if not admin.site.get_model_admin(model).has_add_permission(request):
            raise PermissionDenied
    form = StartForm(request.POST or None, snapshot=get_editor_context(request).snapshot)
    wishes = _Wishes(request.POST or None, prefix="wish")
    shown, problems = [], []
    if request.method == "POST" and _usable(form, wishes):
        flow = _read_flow(form, wishes)
        try:
            made = write_rows(flow)
        except FlowRefused as refused:
            made, problems = {}, refused.problems
        if made and "_make" in request.POST and reasons.read_reason(request):
            problems = _store_rows(request, made)
            if not problems:
                return HttpResponseRedirect(workspace_url(flow["code"]))
        shown = _preview_rows(made)
    context = {
        **admin.site.each_context(request),
        "title": "Start a flow",
        "opts": control_plane()["ce_intent"]._meta,
        "form": form,
        "flows": [(flow.value, flow.label, flow.help) for flow in FlowKind],
        "wishes": wishes,
        "asking": _ASKING,
        "shown": shown,
        "problems": problems,
        "reason": reasons.read_reason(request),
        "reason_missing": reasons.MISSING if "_make" in request.POST and not reasons.read_reason(request) else "",
    }
    return TemplateResponse(request, "config_admin/start.html", context)


def _usable(form: StartForm, wishes: BaseFormSet) -> bool:
    """True when both are valid; a flow that collects needs a field."""
    if not (form.is_valid() & wishes.is_valid()):
        return False
    if form.cleaned_data["flow"] in _ASKING.split() and not any(row.get("label") for row in wishes.cleaned_data):
        form.add_error(None, "Enter at least one field.")
        return False
    return True


def _read_flow(form: StartForm, wishes: BaseFormSet) -> Values:
    """The flow document that the page describes."""
    given = form.cleaned_data
    asks = given["flow"] in _ASKING.split()
    texts = get_texts(find_language(""))
    flow: Values = {
        "code": given["code"],
        "title": given["name"],
        "description": given["description"],
        "kind": given["flow"],
        "phrases": [line.strip() for line in given["phrases"].splitlines() if line.strip()],
        "answer": given["answer"] or texts[f"answer_{given['flow']}"],
    }
    if asks:
        flow["fields"] = list(_name_apart([_read_field(row) for row in wishes.cleaned_data if row.get("label")]))
    if given["flow"] == FlowKind.lookup:
        flow["tool"] = given["tool"]
    if given["flow"] == FlowKind.collect and given["summary"]:
        flow["confirmation"] = given["summary"]
    return flow


def _read_field(cleaned: Mapping[str, Any]) -> Values:
    title = _ARTICLE.sub("", cleaned["label"].strip())
    field: Values = {"name": _name(title), "title": title, "type": cleaned["kind"] or "text"}
    if cleaned["question"].strip():
        field["question"] = cleaned["question"].strip()
    if field["type"] == "choice":
        field["options"] = [{"value": choice, "label": choice} for choice in _split_choices(cleaned["choices"])]
    return field


def _name_apart(fields: Sequence[Values]) -> Iterator[Values]:
    """Give each field its own name: duplicates, and labels without usable letters, get a number."""
    taken: set[str] = set()
    for field in fields:
        numbered = (f"{field['name']}{number}" for number in count(2))
        name = next(name for name in chain([field["name"]], numbered) if name not in taken)
        taken.add(name)
        yield {**field, "name": name}


def _name(label: str) -> str:
    """A field's name from its title: number of guests, numberOfGuests; Größe is grosse."""
    plain = unicodedata.normalize("NFKD", label.replace("ß", "ss")).encode("ascii", "ignore").decode()
    first, *rest = re.findall(r"[A-Za-z0-9]+", plain) or ["value"]
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return name if name[0].isalpha() else f"value{name}"


def _split_choices(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _store_rows(request: HttpRequest, made: Mapping[str, list[Values]]) -> list[str]:
    """Store the rows as one release; returns the reasons if they were refused."""
    try:
        with record_request(request):
            add_rows(made, author=request.user.get_username(), reason=reasons.read_reason(request))
            messages.success(request, told_release())
    except ImportRefused as refused:
        return [
            f"{table_label(error.finding.table)}: {column_label(error.finding.table, error.finding.field or '')}: "
            f"{error.finding.message}"
            for error in refused.plan.errors
        ]
    return []


def _preview_rows(made: Mapping[str, list[Values]]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows of the preview, by table, as the workspace shows them."""
    models = {table: control_plane()[table] for table in made}
    return [
        (
            str(models[table]._meta.verbose_name_plural),
            [describe_row(row_of(models[table](**values))) for values in values_of_rows],
        )
        for table, values_of_rows in made.items()
    ]
