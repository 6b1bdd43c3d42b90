"""Start a flow: a short form that makes an intent, with a preview of its rows."""

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

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import column_label, table_label, workspace_url
from config_admin.flows.flows import Flow, FlowRequest, RequestedField, document
from config_admin.form_save import reasons
from config_admin.form_save.request_change_set import describe_new_release as told_release
from config_admin.form_save.request_change_set import record_request
from config_admin.releases.content import control_plane
from config_admin.snapshot.compile import row_of
from config_admin.transfer.apply_import import ImportRefused, add_rows
from config_admin.workplace.intent_overview import describe_row
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

#: How many fields a new flow may have; more can be added later.
WISHES = 6
#: Field kinds: the label, and the part of the schema.
KINDS: Mapping[str, tuple[str, dict[str, str]]] = {
    "text": ("Text", {}),
    "integer": ("Whole number", {"type": "integer"}),
    "number": ("Number", {"type": "number"}),
    "boolean": ("Yes or no", {"type": "boolean"}),
    "date": ("Date", {"format": "date"}),
    "email": ("E-mail address", {"format": "email"}),
    "phone": ("Phone number", {"format": "phone"}),
    "choice": ("Choice", {}),
}
_ASKING = f"{Flow.FORM} {Flow.LOOKUP}"
#: The first part of a form for everything that a table's rows need.
_NEEDED = ("ce_intent", "ce_rule", "ce_response")


def _text(label: str, help: str, *, flows: str = "", lines: int = 1, required: bool = False) -> forms.CharField:
    attrs = {"data-flows": flows} if flows else {}
    widget = forms.Textarea(attrs={**attrs, "rows": lines}) if lines > 1 else forms.TextInput(attrs=attrs)
    return forms.CharField(label=label, help_text=help, required=required, widget=widget, max_length=4000)


class StartForm(forms.Form):
    """The kind of flow, its subject, and its texts."""

    flow = forms.ChoiceField(label="Type of flow", choices=Flow.choices, widget=forms.RadioSelect, initial=Flow.FAQ)
    code = _text("Code", "Capital letters, digits and underscores, such as BOOK_TABLE.", required=True)
    name = _text("Name", "Shown to users when they choose between intents.", required=True)
    description = _text("When it applies", "One sentence. A model chooses the intent by it.", required=True)
    phrases = _text(
        "Phrases",
        "Examples of what users write, one per line. The significant words count, in their order.",
        lines=4,
        required=True,
    )
    question = _text("First question", "If empty, it asks for the fields below by name.", flows=_ASKING)
    summary = _text(
        "Confirmation",
        "The question for a yes or no. If empty, it lists the collected fields. Use {{ }} for field names.",
        flows=Flow.FORM,
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
        tool.widget.attrs["data-flows"] = Flow.LOOKUP

    def clean_code(self) -> str:
        """A code that no intent has yet."""
        intent = code(self.cleaned_data["code"])
        if self._snapshot.row(rows.Intent, intent):
            raise forms.ValidationError(f"The intent {intent} already exists. Choose another code.")
        return intent

    def clean(self) -> dict[str, Any]:
        """Fields that only some flows need."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("flow") == Flow.FAQ and not cleaned.get("answer"):
            self.add_error("answer", "Enter the answer.")
        if cleaned.get("flow") == Flow.LOOKUP and not cleaned.get("tool"):
            self.add_error("tool", "Choose a tool.")
        return cleaned


class WishForm(forms.Form):
    """One field to collect."""

    label = forms.CharField(label="Field", required=False, max_length=80)
    kind = forms.ChoiceField(
        label="Type", choices=[(name, words) for name, (words, _) in KINDS.items()], required=False
    )
    choices = forms.CharField(label="Choices", required=False, max_length=400)

    def clean(self) -> dict[str, Any]:
        """Choices, if the kind needs them."""
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
        wanted = _read_flow_request(form, wishes)
        if "_make" in request.POST and reasons.read_reason(request):
            problems = _store_flow(request, wanted)
            if not problems:
                return HttpResponseRedirect(workspace_url(wanted.code))
        shown = _preview_rows(wanted)
    context = {
        **admin.site.each_context(request),
        "title": "Start a flow",
        "opts": control_plane()["ce_intent"]._meta,
        "form": form,
        "flows": [(flow.value, flow.label, flow.help) for flow in Flow],
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
    if form.cleaned_data["flow"] in _ASKING.split() and not any(wish.get("label") for wish in wishes.cleaned_data):
        form.add_error(None, "Enter at least one field.")
        return False
    return True


def _read_flow_request(form: StartForm, wishes: BaseFormSet) -> FlowRequest:
    answers = form.cleaned_data
    asks = answers["flow"] in _ASKING.split()
    fields = [_read_requested_field(wish) for wish in wishes.cleaned_data if wish.get("label")] if asks else []
    tool = form.tools.get(answers["tool"])
    return FlowRequest(
        answers["flow"],
        answers["code"],
        answers["name"],
        answers["description"],
        tuple(line.strip() for line in answers["phrases"].splitlines() if line.strip()),
        tuple(_apart(fields)),
        answers["question"],
        answers["summary"],
        answers["answer"],
        tool.tool_code if tool else "",
        tool.tool_group if tool else "",
    )


def _read_requested_field(cleaned: Mapping[str, Any]) -> RequestedField:
    schema = KINDS[cleaned["kind"] or "text"][1]
    choices = _split_choices(cleaned["choices"]) if cleaned["kind"] == "choice" else ()
    return RequestedField(
        _name(cleaned["label"]), cleaned["label"].strip(), schema.get("type", "string"), schema.get("format"), choices
    )


def _apart(wishes: Sequence[RequestedField]) -> Iterator[RequestedField]:
    """Give each field its own name: duplicates, and labels without usable letters, get a number."""
    taken: set[str] = set()
    for wish in wishes:
        numbered = (f"{wish.name}{number}" for number in count(2))
        name = next(name for name in chain([wish.name], numbered) if name not in taken)
        taken.add(name)
        yield replace(wish, name=name)


def _name(label: str) -> str:
    """A field's name from its label: the number of guests, numberOfGuests; Größe is grosse."""
    noun = re.sub(r"^(the|a|an|your)\s+", "", label.strip(), flags=re.I).replace("ß", "ss")
    plain = unicodedata.normalize("NFKD", noun).encode("ascii", "ignore").decode()
    first, *rest = re.findall(r"[A-Za-z0-9]+", plain) or ["value"]
    name = first.lower() + "".join(word.capitalize() for word in rest)
    return name if name[0].isalpha() else f"value{name}"


def _split_choices(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _store_flow(request: HttpRequest, wanted: FlowRequest) -> list[str]:
    """Store the rows as one release; returns the reason if they were refused."""
    try:
        with record_request(request):
            add_rows(document(wanted), author=request.user.get_username(), reason=reasons.read_reason(request))
            messages.success(request, told_release())
    except ImportRefused as refused:
        return [
            f"{table_label(error.finding.table)}: {column_label(error.finding.table, error.finding.field or '')}: "
            f"{error.finding.message}"
            for error in refused.plan.errors
        ]
    return []


def _preview_rows(wanted: FlowRequest) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows of the preview, by table, as the workspace shows them."""
    made = document(wanted)
    models = {table: control_plane()[table] for table in made}
    return [
        (
            str(models[table]._meta.verbose_name_plural),
            [describe_row(row_of(models[table](**values))) for values in row_values],
        )
        for table, row_values in made.items()
    ]
