"""FAQ: a spreadsheet of questions and answers, pasted or uploaded, with a preview of what it makes."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse

from config_admin.editing import reasons
from config_admin.editing.links import release_url, workspace_url
from config_admin.flows.add_from_page import add_from_page
from config_admin.flows.compared_phrases import describe_new_phrases
from config_admin.flows.faq import sheet
from config_admin.flows.faq.plan import FaqPlan, plan_faq
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import get_released_head
from config_admin.releases.restore_rows import lay_rows_over
from config_admin.transfer.document import FileRefused
from config_admin.transfer.files import CONTENT_TYPES
from config_admin.transfer.import_plan import plan_import
from config_admin.validation.stored_columns import control_plane
from convengine.server.admin_site.pages import SidebarEntry, page

#: How many lines of each kind the page shows.
MAX_SHOWN = 100
_NEEDED = ("ce_intent", "ce_intent_classifier", "ce_response")
_TEMPLATES = {"faq.xlsx": CONTENT_TYPES["xlsx"], "faq.csv": CONTENT_TYPES["csv"]}


class FaqForm(forms.Form):
    """The cells, pasted or in a file, and what to leave out."""

    file = forms.FileField(
        label="File",
        required=False,
        help_text=f"CSV or XLSX, at most {sheet.MAX_LINES} lines and {sheet.MAX_BYTES // 1024 // 1024} MB.",
        widget=forms.FileInput(attrs={"accept": ".csv,.tsv,.txt,.xlsx"}),
    )
    text = forms.CharField(
        label="Cells of a spreadsheet",
        required=False,
        strip=False,
        help_text="Copy the columns in your spreadsheet and paste them here. A file appears here after the preview.",
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "data-most": sheet.MAX_CHARS}),
    )
    skip = forms.BooleanField(label="Skip questions that exist already", required=False, initial=True)
    rest = forms.BooleanField(label="Leave out lines with problems and create the others", required=False)

    def clean(self) -> dict[str, Any]:
        """The lines under `lines`."""
        cleaned = super().clean() or self.cleaned_data
        sent = cleaned.get("file")
        try:
            if sent:
                cleaned["lines"] = sheet.read_file(sent.name, sent.read(sheet.MAX_BYTES + 1))
            else:
                cleaned["lines"] = sheet.read_text(cleaned.get("text", ""))
        except FileRefused as refused:
            self.add_error("file" if sent else "text", f"{refused.position} {refused.problem}")
        return cleaned


@page(
    "faq/",
    of="config_admin.CeIntent",
    right="config_admin.add_ceintent",
    entry=SidebarEntry("Intents", "FAQ", "Create answers to many questions from a spreadsheet.", 2),
)
def faq(request: HttpRequest) -> HttpResponse:
    """The form, then the preview, then the release."""
    _require_rights(request)
    form = FaqForm(request.POST, request.FILES) if request.method == "POST" else FaqForm()
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        preview = _Preview(request, form)
        if preview.is_agreed:
            done = f"{_count(preview.plan)} created. {_count_skipped(preview.plan)}".strip()
            context["refused"] = add_from_page(request, preview.plan.make_document(), done)
            if not context["refused"]:
                # To the workspace of the only answer, else to the release.
                codes = [planned.code for planned in preview.plan.planned]
                return HttpResponseRedirect(
                    workspace_url(codes[0]) if len(codes) == 1 else release_url(get_released_head().config_version)
                )
        # The lines of the file as text, so that they can be corrected and sent again.
        data = request.POST.copy()
        if form.cleaned_data.get("file"):
            data["text"] = sheet.write_text(form.cleaned_data["lines"])
        form = FaqForm(data)
        context |= preview.describe()
    context |= {
        "title": "FAQ",
        "form": form,
        "templates": list(_TEMPLATES),
        "reason": reasons.read_reason(request),
    }
    return TemplateResponse(request, "config_admin/faq.html", context)


class _Preview:
    """What the lines make, and whether the user wants it as the page showed it."""

    def __init__(self, request: HttpRequest, form: FaqForm) -> None:
        phrases = admin.site.get_model_admin(control_plane()["ce_intent_classifier"])
        self.request, self.may_move = request, phrases.has_delete_permission(request)
        moved = request.POST.getlist("moved") if self.may_move else []
        self.plan = plan_faq(form.cleaned_data["lines"], skip=form.cleaned_data["skip"], moved=moved)
        self.may_make = bool(self.plan.planned) and (not self.plan.problems or form.cleaned_data["rest"])
        self.is_wanted = "_make" in request.POST
        self.is_outdated = self.is_wanted and request.POST.get("previewed") != self.plan.digest
        self.lacks_reason = self.is_wanted and self.may_make and not reasons.read_reason(request)

    @property
    def is_agreed(self) -> bool:
        return self.is_wanted and self.may_make and not self.is_outdated and not self.lacks_reason

    def describe(self) -> dict[str, Any]:
        """The context of the template, with at most `MAX_SHOWN` of each list of the plan."""
        plan = self.plan
        compared: dict[str, Any] = {}
        if "_compare" in self.request.POST and plan.planned:
            before, placed = snapshots.current(), plan_import(plan.make_document()).placed
            compared["compared"] = describe_new_phrases(before, lay_rows_over(before, placed.wanted))
        overlaps = [
            f"Line {overlap.line}: “{overlap.question}” also matches {', '.join(overlap.others)}."
            for overlap in sorted(plan.overlaps, key=lambda overlap: overlap.line)
        ]
        lists = (
            ("Problems", "danger", "problems", [str(problem) for problem in plan.problems]),
            ("Users are asked which one they mean", "warning", "overlaps", overlaps),
            ("Warnings", "warning", "warnings", [str(warning) for warning in plan.warnings]),
        )
        answered = len(plan.answered)
        leads = pluralize(answered, " leads to another answer,s lead to other answers")
        return {
            "plan": plan,
            "may_make": self.may_make,
            "summary": _count(plan),
            "skipped_summary": _count_skipped(plan),
            "answered_summary": f"{answered} question{leads} already." if answered else "",
            "answered": plan.answered[:MAX_SHOWN],
            "more_answered": max(answered - MAX_SHOWN, 0),
            "lists": [
                (title, kind, name, lines[:MAX_SHOWN], max(len(lines) - MAX_SHOWN, 0))
                for title, kind, name, lines in lists
                if lines
            ],
            "shown": plan.planned[:MAX_SHOWN],
            "more": max(len(plan.planned) - MAX_SHOWN, 0),
            "reason_missing": reasons.explain_blank_reason(self.request) if self.lacks_reason else "",
            **compared,
            "is_outdated": self.is_outdated,
            "may_move": self.may_move,
            "rest_missing": self.is_wanted and not self.may_make and bool(self.plan.planned),
        }


def _require_rights(request: HttpRequest) -> None:
    for table in _NEEDED:
        if not admin.site.get_model_admin(control_plane()[table]).has_add_permission(request):
            raise PermissionDenied


@page("faq/<str:name>", of="config_admin.CeIntent", name="faq_template")
def download_template(request: HttpRequest, name: str) -> HttpResponse:
    """A file to fill in."""
    _require_rights(request)
    if name not in _TEMPLATES:
        return HttpResponseRedirect("../")
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(sheet.write_template(name), content_type=_TEMPLATES[name], headers=headers)


def _count(plan: FaqPlan) -> str:
    """`30 answers with 74 questions`."""
    answers, questions = len(plan.planned), plan.question_count
    return f"{answers} answer{pluralize(answers)} with {questions} question{pluralize(questions)}"


def _count_skipped(plan: FaqPlan) -> str:
    """How many questions are skipped because they exist, as a sentence; blank if none are."""
    count = len(plan.skipped)
    if not count:
        return ""
    lines = f", and with them {plan.skipped_lines} whole line{pluralize(plan.skipped_lines)}"
    exists = "exists" if count == 1 else "exist"
    return f"{count} question{pluralize(count)} {exists} already and {pluralize(count, 'is,are')} skipped" + (
        f"{lines}." if plan.skipped_lines else "."
    )
