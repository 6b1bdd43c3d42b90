"""Pages of answer documents: import a file, and the sections of a document."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from django.urls import reverse

from config_admin.editing import reasons
from config_admin.editing.context import get_editor_context
from config_admin.editing.given_messages import note_taught, read_given_messages, read_number
from config_admin.editing.links import row_url
from config_admin.editing.request_change_set import describe_new_release, record_request
from config_admin.tables.fetch_document import fetch_document
from config_admin.transfer.apply_import import ImportRefused, import_document
from config_admin.transfer.document import Document, FileRow, ImportMode
from config_admin.validation.stored_columns import control_plane
from convengine.engine.documents.cards import choose_cards, find_cards
from convengine.engine.documents.index import get_document_index
from convengine.engine.documents.sections import Section, split_document
from convengine.engine.text.compare import storable
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.document_text import MOST_BYTES, READABLE, read_document
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.phrase_models.models import CePhraseVector

_TABLE = rows.AnswerDocument.table
_ADMIN = "config_admin.CeAnswerDocument"
#: Sections of a page, each with three inputs.
_SHOWN = 50
_LONGEST_TITLE, _LONGEST_QUESTION = 200, 300


class ImportForm(forms.Form):
    """A file, and what is to know of it."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text=f"{', '.join(READABLE)}, at most {MOST_BYTES // 1024**2} MB. Headings become sections.",
        widget=forms.FileInput(attrs={"accept": ",".join(READABLE)}),
    )
    source = forms.URLField(
        label="Or fetch it from",
        required=False,
        max_length=500,
        assume_scheme="https",
        help_text="The address of such a file, or of a page.",
    )
    title = forms.CharField(
        label="Title",
        required=False,
        max_length=_LONGEST_TITLE,
        help_text="Empty for the name of the file. A document of this title gets the new text.",
    )
    link = forms.CharField(
        label="Link",
        required=False,
        max_length=500,
        help_text="Where users read the whole document.",
    )
    user_group = forms.CharField(
        label="User group", required=False, max_length=120, help_text="Empty if all users may see it."
    )

    def clean(self) -> dict[str, Any]:
        """With the text under `content`."""
        cleaned = super().clean() or self.cleaned_data
        sent, source = cleaned.get("file"), cleaned.get("source")
        if bool(sent) == bool(source):
            if not self.errors:
                self.add_error("file", "Choose a file, or enter the address of one.")
            return cleaned
        try:
            name, data = (sent.name or "", sent.read(MOST_BYTES + 1)) if sent else fetch_document(str(source))
            name = storable(name)
            cleaned["content"] = read_apart(data, read_document, name, data)
            cleaned["title"] = (cleaned.get("title") or name.rpartition(".")[0] or name).strip()[:_LONGEST_TITLE]
        except Unreadable as problem:
            self.add_error("file" if sent else "source", str(problem))
        return cleaned


@page(
    "import/",
    of=_ADMIN,
    name="document_import",
    right="config_admin.add_ceanswerdocument",
    entry=SidebarEntry("Answers", "Import a document", "Answer questions from a file.", 2),
)
def import_file(request: HttpRequest) -> HttpResponse:
    """The form, then the sections of the document."""
    if not admin.site.get_model_admin(control_plane()[_TABLE]).has_add_permission(request):
        raise PermissionDenied
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    form.label_suffix = ""
    context: dict[str, Any] = {"title": "Import a document", "form": form, "reason": reasons.read_reason(request)}
    if request.method == "POST" and form.is_valid():
        if reasons.read_reason(request):
            # What is left empty stays as it is in a document of this title: its users, above all.
            names = "title", "link", "user_group", "content"
            row = {name: form.cleaned_data[name] for name in names if form.cleaned_data[name]}
            context["refused"] = _store(request, row)
            if not context["refused"]:
                return _show_imported(request, form.cleaned_data)
        else:
            context["reason_missing"] = reasons.explain_blank_reason(request)
    return TemplateResponse(request, "config_admin/document_import.html", context)


def _store(request: HttpRequest, row: dict[str, Any]) -> list[str]:
    """Store a row as a release or in the open draft. Returns why it is refused; then nothing is stored."""
    document = Document({_TABLE: [FileRow(row, str(row["title"]))]}, ImportMode.UPDATE)
    try:
        with record_request(request):
            import_document(document, author=request.user.get_username(), reason=reasons.read_reason(request))
            messages.success(request, describe_new_release())
    except ImportRefused as refused:
        return [str(error) for error in refused.plan.errors]
    return []


def _show_imported(request: HttpRequest, cleaned: dict[str, Any]) -> HttpResponse:
    count = len(split_document(cleaned["title"], cleaned["content"]))
    words = len(cleaned["content"].split())
    messages.success(request, f"“{cleaned['title']}” has {count:,} section{pluralize(count)} and {words:,} words.")
    folded, documents = cleaned["title"].casefold(), get_editor_context(request).snapshot.rows(rows.AnswerDocument)
    row = next((document for document in documents if document.title.casefold() == folded), None)
    if row is None:
        return HttpResponseRedirect(
            reverse(f"admin:{control_plane()[_TABLE]._meta.app_label}_ceanswerdocument_changelist")
        )
    return HttpResponseRedirect(row_url(_TABLE, row.document_id, "document_sections"))


@page("<int:pk>/sections/", of=_ADMIN, name="document_sections")
def show_sections(request: HttpRequest, pk: int) -> HttpResponse:
    """The sections of a document with what is set of each, and what it says to a message."""
    model_admin = admin.site.get_model_admin(control_plane()[_TABLE])
    snapshot = get_editor_context(request).snapshot
    row = snapshot.row(rows.AnswerDocument, pk)
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    if row is None:
        raise Http404(f"Answer document {pk} does not exist.")
    sections = split_document(row.title, row.content)
    taught = request.GET.get("section", "")
    at = next((index for index, section in enumerate(sections) if section.name == taught), None)
    shown = Paginator(sections, _SHOWN).get_page(request.GET.get("page") if at is None else at // _SHOWN + 1)
    may_change = model_admin.has_change_permission(request)
    context: dict[str, Any] = {}
    if request.method == "POST" and may_change:
        choices = {**_read_choices(row), **_read_sent(request, list(shown))}
        if not reasons.read_reason(request):
            context["reason_missing"] = reasons.explain_blank_reason(request)
        else:
            used = {name: choice for name, choice in choices.items() if choice}
            context["refused"] = _store(request, {"title": row.title, "sections": used})
            if not context["refused"]:
                return _go_on(request, choices.get(taught) != _read_choices(row).get(taught), taught)
    else:
        choices = _read_choices(row)
        if at is not None:
            context["taught"] = _add_given(request, choices, taught)
    message = request.GET.get("q", "").strip()
    context |= {
        "title": row.title,
        "row": row,
        "page": shown,
        "count": len(sections),
        "ready": _count_ready(request, snapshot, row, len(sections)),
        "lines": [_describe_section(section, choices, number) for number, section in enumerate(shown)],
        "may_change": may_change,
        "reason": reasons.read_reason(request),
        "q": message,
        "cards": _try_message(snapshot, message, row) if message else None,
        "change_url": row_url(_TABLE, pk),
    }
    return TemplateResponse(request, "config_admin/document_sections.html", context)


def _go_on(request: HttpRequest, is_taught: bool, section: str) -> HttpResponse:
    """Back to the inbox, whose group is noted as taught if its section got something; else to the sections."""
    if read_number(request, "group") is None or not request.user.has_perm(READ_TURNS):
        return HttpResponseRedirect(request.path)
    if is_taught:
        note_taught(request, f"Added to the questions of “{section}”")
    return HttpResponseRedirect(reverse("admin:audit_ceaudit_inbox"))


def _add_given(request: HttpRequest, choices: dict[str, Any], section: str) -> dict[str, Any]:
    """Propose the messages that the address names as questions of a section; returns what the page says of it."""
    choice = choices.get(section)
    own = dict(choice) if isinstance(choice, dict) else {}
    known = [str(text) for text in own.get("askedAs") or ()]
    texts = [" ".join(given.text.split())[:_LONGEST_QUESTION] for given in read_given_messages(request)]
    new = [text for text in dict.fromkeys(texts) if text not in known]
    choices[section] = {**own, "askedAs": [*known, *new]}
    return {"section": section, "path": section.replace(" > ", " › "), "count": len(new)}


def _count_ready(request: HttpRequest, snapshot: Snapshot, row: rows.AnswerDocument, count: int) -> int:
    """How many sections conversations find already: all but those whose vectors the background still makes."""
    if not row.enabled or getattr(request, "ce_draft", None):
        return count
    names = get_document_index(snapshot).list_vector_names(row.document_id)
    return count - len(names) + CePhraseVector.objects.filter(name__in=names).count()


def _read_choices(row: rows.AnswerDocument) -> dict[str, Any]:
    return dict(row.sections) if isinstance(row.sections, dict) else {}


def _read_sent(request: HttpRequest, sections: list[Section]) -> dict[str, dict[str, Any]]:
    """What was sent of the sections of a page, by their names; empty for a section as it is usually."""
    sent: dict[str, dict[str, Any]] = {}
    for number, section in enumerate(sections):
        lines = [line.strip() for line in storable(request.POST.get(f"asked-{number}", "")).splitlines()]
        asked_as = [line for line in lines if line]
        weight = _read_weight(request.POST.get(f"weight-{number}", ""))
        sent[section.name] = {
            **({"off": True} if f"off-{number}" in request.POST else {}),
            **({"weight": weight} if weight != 1 else {}),
            **({"askedAs": asked_as} if asked_as else {}),
        }
    return sent


def _read_weight(text: str) -> float:
    """A weight from 0.1 to 10; 1 for anything else."""
    try:
        weight = float(text.replace(",", "."))
    except ValueError:
        return 1
    return weight if 0.1 <= weight <= 10 else 1


def _describe_section(section: Section, choices: dict[str, Any], number: int) -> dict[str, Any]:
    choice = choices.get(section.name)
    own = choice if isinstance(choice, dict) else {}
    return {
        "number": number,
        "name": section.name,
        "path": section.titles[:-1],
        "title": section.titles[-1],
        "text": section.text,
        "words": len(section.text.split()),
        "is_off": own.get("off") is True,
        "weight": own.get("weight", 1),
        "asked_as": "\n".join(map(str, own.get("askedAs") or ())),
    }


def _try_message(snapshot: Snapshot, message: str, row: rows.AnswerDocument) -> list[dict[str, Any]]:
    """What all documents say to a message: the sections that come near, those that users see first."""
    cards = find_cards(snapshot, message, row.user_group or "")
    shown = len(choose_cards(snapshot, cards))
    return [{**card, "is_shown": number < shown} for number, card in enumerate(cards)]
