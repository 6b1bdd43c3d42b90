"""The page that exports and imports configuration."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

from config_admin.editing import reasons
from config_admin.editing.links import release_url
from config_admin.editing.request_change_set import UNCHANGED, describe_saved_draft
from config_admin.editing.row_diff import changed_row
from config_admin.releases.queries import NoSuchRelease
from config_admin.releases.working_copy import find_working_copy
from config_admin.transfer.apply_import import ImportFailed, ImportResult, run_import
from config_admin.transfer.document import Document, FileRefused, ImportMode
from config_admin.transfer.files import (
    CONTENT_TYPES,
    CSV,
    FORMATS,
    READING_OPTIONS,
    XLSX,
    YAML,
    export_configuration,
    read_bytes,
)
from config_admin.transfer.import_plan import Progress, ignore_progress
from config_admin.transfer.import_progress import NDJSON, stream_lines
from config_admin.transfer.import_report import list_sections
from config_admin.transfer.row_by_row import limit_document, may_change_rows
from config_admin.transfer.upload_form import UploadForm
from config_admin.validation.labels import table_title
from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.rows import ROW_TYPES
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.rights import IMPORT

#: The result of an import, or the reason why there is none.
Outcome = ImportResult | str
Work = Callable[[Progress], Outcome]
#: How many rows, findings and notes the page shows.
SHOWN = 50
_MODES = [
    ("", "As the file says, else the default of its format"),
    (ImportMode.REPLACE.value, "Replace: the tables get exactly the rows of the file"),
    (ImportMode.UPDATE.value, "Update: change or add the rows of the file, keep all others"),
    (ImportMode.ADD.value, "Add: add the rows, with new numbers if theirs are already used"),
]


class FileForm(UploadForm):
    """Which file, and how to read it."""

    file_missing = "Choose a file: a bundle (.yaml, .json), a table (.csv), a workbook (.xlsx), or seed SQL (.sql)."
    too_large = "Split it by tables."

    mode = forms.ChoiceField(
        label="Matching rows", choices=_MODES, required=False, widget=forms.Select({"class": "ce-select"})
    )
    blank_as_any = forms.BooleanField(label="Read an empty intent or state as ANY", required=False)
    undouble_backslashes = forms.BooleanField(
        label="Read two backslashes in patterns as one, for example in seed files that were written for Java",
        required=False,
    )
    merge = forms.BooleanField(
        label="Merge with changes that were made here since the export of the file", required=False
    )
    overwrite = forms.BooleanField(
        label="Overwrite this configuration, including what was changed since the export of the file", required=False
    )
    rest = forms.BooleanField(label="Leave out rows with errors and import the rest", required=False)

    def document(self) -> Document:
        """The rows of the file. Raises FileRefused."""
        given = self.cleaned_data
        return read_bytes(given["name"], given["data"], **{name: given[name] for name in READING_OPTIONS})


@page(
    "transfer/",
    of="config_admin.CeRelease",
    entry=SidebarEntry("Releases", "Import & export", "Export the configuration or import a file."),
)
def show(model_admin: Any, request: HttpRequest) -> HttpResponseBase:
    """The page: exports, and the form for a file to import."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    is_own = not request.user.has_perm(IMPORT)
    may_import = not is_own or may_change_rows(request)
    context: dict[str, Any] = {"form": FileForm(), "may_import": may_import, "is_own": is_own}
    if request.method == "POST":
        if not may_import:
            require_right(request, IMPORT)
        reasons.require_reason(request, consent=("apply",))
        context["form"] = form = FileForm(request.POST, request.FILES)
        if form.is_valid():
            work = partial(_run_import, form, request, is_own)
            if NDJSON in request.headers.get("Accept", ""):
                return _stream_progress(model_admin, request, context, work)
            outcome = work(ignore_progress)
            if _is_imported(outcome):
                (messages.success if outcome.release else messages.info)(request, _describe_import(outcome))
                return HttpResponseRedirect(release_url(outcome.release.pk) if outcome.release else request.path)
            context |= _describe_outcome(request, form, outcome)
    return _render_page(model_admin, request, context)


def _render_page(model_admin: Any, request: HttpRequest, context: dict[str, Any]) -> TemplateResponse:
    tables = [(row_type.table, table_title(row_type.table)) for row_type in ROW_TYPES]
    context |= {**model_admin.admin_site.each_context(request), "title": "Import & export", "opts": model_admin.opts}
    return TemplateResponse(request, "config_admin/transfer.html", {**context, "tables": tables, "forms": FORMATS})


def _stream_progress(
    model_admin: Any, request: HttpRequest, context: dict[str, Any], work: Work
) -> StreamingHttpResponse:
    """The progress line by line; at the end the next page, or the import and its address."""

    def describe_result(outcome: Outcome) -> dict[str, str]:
        if _is_imported(outcome):
            return {
                "told": _describe_import(outcome),
                "url": release_url(outcome.release.pk) if outcome.release else "",
            }
        next_page = _render_page(model_admin, request, context | _describe_outcome(request, context["form"], outcome))
        return {"page": next_page.render().content.decode()}

    lines = stream_lines(work, dict, describe_result, lambda failed: {"problem": str(failed)})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(lines, content_type=NDJSON, headers=headers)


def _is_imported(outcome: Outcome) -> TypeGuard[ImportResult]:
    return isinstance(outcome, ImportResult) and outcome.is_applied


@page("transfer/export/", of="config_admin.CeRelease")
def export(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """An export: of the configuration in force or of a release, of all or some tables."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    wanted = request.GET.get("form", YAML)
    form = wanted if wanted in FORMATS else YAML
    release = request.GET.get("release", "")
    try:
        data = export_configuration(parse_whole_number(release), tables=request.GET.getlist("table"), form=form)
    except (NoSuchRelease, ValueError) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect("../")
    stem = request.GET["table"] if form == CSV else f"configuration-{release}" if release else "configuration"
    return _answer_file(data, stem, form)


class ExportRowsAdmin(ModelAdmin):
    """Lists offer their ticked rows as a workbook, to be changed and imported."""

    @admin.action(description="Export selected, to change and import them", permissions=["change"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse | None:
        table, keys = self.opts.db_table, set(queryset.order_by().values_list("pk", flat=True))
        try:
            data = export_configuration(tables=[table], keys=keys, form=XLSX)
        except ValueError as error:
            messages.error(request, str(error))
            return None
        return _answer_file(data, table, XLSX)


def _answer_file(data: bytes, stem: str, form: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{stem}.{form}"'}
    return HttpResponse(data, content_type=CONTENT_TYPES[form], headers=headers)


def _run_import(form: FileForm, request: HttpRequest, is_own: bool, progress: Progress) -> Outcome:
    """Check the file and, if confirmed and allowed, import it. `is_own`: as the forms of the rows would."""
    user: Any = request.user
    apply, reason, rest = "apply" in request.POST, reasons.read_reason(request), form.cleaned_data["rest"]
    try:
        document = limit_document(form.document(), request) if is_own else form.document()
        return run_import(document, apply=apply, author=user, reason=reason, rest=rest, progress=progress)
    except (FileRefused, ImportFailed) as error:
        return str(error)


def _describe_outcome(request: HttpRequest, form: FileForm, outcome: Outcome) -> dict[str, Any]:
    """The context of the page about a file that was not imported, with at most `SHOWN` entries of each list.

    Why the file was refused is an error of the form.
    """
    if isinstance(outcome, str):
        form.add_error("file", outcome.split("\n"))
        return {}
    plan, given = outcome.plan, form.cleaned_data
    rows = [(table, row) for table, of_table in plan.differences.items() for row in of_table]
    changed = [(row, changed_row(table, row)) for table, row in rows[:SHOWN]]
    return {
        "plan": plan,
        "counts": [
            (table_title(table), *(counts[how] for how in ("added", "changed", "removed")))
            for table, of_table in plan.differences.items()
            if (counts := Counter(row.how for row in of_table))
        ],
        # A new row has no page.
        "changed": [each if row.before is not None else each._replace(url="") for row, each in changed],
        "more_rows": max(len(rows) - SHOWN, 0),
        "lists": [
            (title, kind, lines[:SHOWN], max(len(lines) - SHOWN, 0)) for title, kind, lines in list_sections(plan)
        ],
        **form.pack(),
        "codes": {error.finding.code for error in plan.errors},
        "reason": reasons.read_reason(request) or f"Import of {given['name']}",
        "reason_missing": reasons.describe_missing_reason(request),
        "has_news": request.POST.get("seen", plan.content_hash) != plan.content_hash,
    }


def _describe_import(done: ImportResult) -> str:
    copy = find_working_copy()
    if not (done.release or (copy and copy.changed)):
        return UNCHANGED
    out = len(done.plan.left_out)
    omitted = f" {out} finding{pluralize(out)} left rows out." if out else ""
    if done.release is None:
        return f"Imported. {describe_saved_draft()}{omitted}"
    return f"Imported as release {done.release.pk}. Every conversation uses it from its next message on.{omitted}"
