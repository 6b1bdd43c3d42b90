"""The page on which configuration goes out and comes in: files to take along, and what a file would change."""

import base64
import binascii
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.defaultfilters import pluralize
from django.template.response import TemplateResponse

from config_admin.admin.comparison.comparing import ChangedRow, changed_row, table_title
from config_admin.admin.links import release_url
from config_admin.admin.saving import reasons
from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.applying import Imported, ImportFailed, ImportRefused, bring
from config_admin.transfer.document import Document, FileRefused, Mode
from config_admin.transfer.files import CONTENT_TYPES, CSV, FORMS, YAML, bundle_of, read_bytes
from config_admin.transfer.following import NDJSON, Broke, News, followed
from config_admin.transfer.planning import Plan, Progress, Told, plan, silent
from convengine import conf
from convengine.codec import dumps
from convengine.domain.rows import ROW_TYPES

RIGHT = "config_admin.import_configuration"
#: An import that was made, one that was judged, or why there is none.
Outcome = Imported | Plan | str
Work = Callable[[Progress], Outcome]
#: Rows, findings and notes that the page spells out.
SHOWN = 50
_MODES = [
    ("", "As the format says: bundles replace their tables, CSV and XLSX update, SQL adds"),
    (Mode.REPLACE.value, "Replace: the tables of the file become what it says"),
    (Mode.UPDATE.value, "Update: rows of the file are changed or new, others stay"),
    (Mode.ADD.value, "Add: rows of another system, under new ids where theirs are taken"),
]


class FileForm(forms.Form):
    """Which file, and how it is to be read; on its way back from the page, the file as the page packed it."""

    file = forms.FileField(
        label="File", required=False, widget=forms.FileInput(attrs={"accept": ".yaml,.yml,.json,.csv,.xlsx,.sql"})
    )
    name = forms.CharField(required=False)
    packed = forms.CharField(required=False, strip=False)
    mode = forms.ChoiceField(
        label="How rows find their places", choices=_MODES, required=False, widget=forms.Select({"class": "ce-select"})
    )
    blank_as_any = forms.BooleanField(label="A blank intent or state means ANY", required=False)
    rest = forms.BooleanField(label="Leave rows with errors out, and import the rest", required=False)

    def clean(self) -> dict[str, Any]:
        """The file as bytes under `data`."""
        found: dict[str, Any] = super().clean() or {}
        limit = conf.get("MAX_IMPORT_BYTES")
        if sent := found.get("file"):
            found["name"], found["data"] = sent.name, sent.read(limit + 1)
        elif found.get("packed"):
            found["data"] = _unpacked(found["packed"], limit)
        elif "file" not in self.errors:
            self.add_error(
                "file",
                "Choose a file: a bundle (.yaml, .json), a table (.csv), a workbook (.xlsx), or seed SQL (.sql).",
            )
        if len(found.get("data", b"")) > limit:
            self.add_error("file", f"The file has more than {limit} bytes. Split it by tables.")
        return found

    def document(self) -> Document:
        """The rows of the file. Raises FileRefused."""
        given = self.cleaned_data
        return read_bytes(given["name"], given["data"], mode=given["mode"] or None, blank_as_any=given["blank_as_any"])


def _unpacked(text: str, limit: int) -> bytes:
    try:
        return zlib.decompressobj().decompress(base64.b64decode(text, validate=True), limit + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise ValidationError("The file got lost on its way. Choose it again.") from None


def show(model_admin: Any, request: HttpRequest) -> HttpResponseBase:
    """The page: what there is to take along, and the question which file to import."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    context = {"form": FileForm(), "may_import": request.user.has_perm(RIGHT)}
    if request.method == "POST":
        if not context["may_import"]:
            raise PermissionDenied
        reasons.need(request, consent=("apply",))
        context["form"] = form = FileForm(request.POST, request.FILES)
        if form.is_valid():
            work = partial(_outcome, form, request.user, reasons.given(request), "apply" in request.POST)
            if NDJSON in request.headers.get("Accept", ""):
                return _followed(model_admin, request, context, work)
            outcome = work(silent)
            if isinstance(outcome, Imported):
                return _on(request, outcome)
            context |= _judged(request, form, outcome)
    return _page(model_admin, request, context)


def _page(model_admin: Any, request: HttpRequest, context: dict[str, Any]) -> TemplateResponse:
    tables = [(row_type.table, table_title(row_type.table)) for row_type in ROW_TYPES]
    context |= {**model_admin.admin_site.each_context(request), "title": "In and out", "opts": model_admin.opts}
    return TemplateResponse(request, "config_admin/transfer.html", {**context, "tables": tables, "forms": FORMS})


def _followed(model_admin: Any, request: HttpRequest, context: dict[str, Any], work: Work) -> StreamingHttpResponse:
    """How far the work is, line by line; last the page that follows, or what was imported and where that is shown."""

    def lines() -> Iterator[bytes]:
        try:
            for news in followed(work):
                yield dumps(asdict(news) if isinstance(news, News) else last(news.result)).encode() + b"\n"
        except Broke as error:
            yield dumps({"problem": str(error)}).encode() + b"\n"

    def last(outcome: Outcome) -> dict[str, str]:
        if isinstance(outcome, Imported):
            return {"told": _told(outcome), "url": release_url(outcome.release.pk) if outcome.release else ""}
        page = _page(model_admin, request, context | _judged(request, context["form"], outcome))
        return {"page": page.render().content.decode()}

    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(lines(), content_type=NDJSON, headers=headers)


def export(model_admin: Any, request: HttpRequest) -> HttpResponse:
    """A bundle to take along: of the configuration in force or of a release, all of it or some tables."""
    if not model_admin.has_view_permission(request):
        raise PermissionDenied
    asked = request.GET.get("form", YAML)
    form = asked if asked in FORMS else YAML
    release = request.GET.get("release", "")
    try:
        data = bundle_of(int(release) if release.isdecimal() else None, tables=request.GET.getlist("table"), form=form)
    except (NoSuchRelease, ValueError) as error:
        messages.error(request, str(error))
        return HttpResponseRedirect("../")
    stem = request.GET["table"] if form == CSV else f"configuration-{release}" if release else "configuration"
    name = f"{stem}.{form}"
    return HttpResponse(
        data, content_type=CONTENT_TYPES[form], headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def _outcome(form: FileForm, user: Any, reason: str, apply: bool, progress: Progress) -> Outcome:
    """Look at the file, and, where it is wanted and may be, import it."""
    rest = form.cleaned_data["rest"]
    try:
        document = form.document()
        if apply:
            return bring(document, author=user, reason=reason, rest=rest, progress=progress)
        return plan(document, rest=rest, progress=progress)
    except ImportRefused as error:
        return error.plan
    except (FileRefused, ImportFailed) as error:
        return str(error)


def _judged(request: HttpRequest, form: FileForm, outcome: Plan | str) -> dict[str, Any]:
    """What the page says of a file that was not imported."""
    if isinstance(outcome, str):
        form.add_error("file", outcome.split("\n"))
        return {}
    return {
        **_report(outcome),
        "packed": base64.b64encode(zlib.compress(form.cleaned_data["data"])).decode(),
        "name": form.cleaned_data["name"],
        "reason": reasons.given(request) or f"Import of {form.cleaned_data['name']}",
        "reason_missing": reasons.told(request),
    }


def _on(request: HttpRequest, done: Imported) -> HttpResponse:
    if done.release is None:
        messages.info(request, _told(done))
        return HttpResponseRedirect(request.path)
    messages.success(request, _told(done))
    return HttpResponseRedirect(release_url(done.release.pk))


def _told(done: Imported) -> str:
    if done.release is None:
        return "Nothing is different, so there is no new release."
    out = len(done.plan.left_out)
    left = f" {out} finding{pluralize(out)} kept rows out." if out else ""
    return f"Imported as release {done.release.pk}: the next message of every conversation uses it.{left}"


def _report(found: Plan) -> dict[str, Any]:
    differences = found.differences
    rows = [(table, row) for table, rows in differences.items() for row in rows]
    warnings = [told for told in found.findings if not told.finding.is_error]
    notes = [f"{note.where}: {note.text}" for note in found.document.notes if not note.refused]
    notes += [
        f"{found.placed.origins[key]}, {change.field}: {change.before} is said as {change.after}"
        for key, changes in found.placed.conversions.items()
        for change in changes
    ]
    notes += [f"{table_title(table)}: {old} is {new} here" for (table, old), new in found.placed.renumbered.items()]
    return {
        "plan": found,
        "counts": [(table_title(table), *_counted(of_table)) for table, of_table in differences.items()],
        "changed": [_shown(table, row) for table, row in rows[:SHOWN]],
        "more_rows": max(len(rows) - SHOWN, 0),
        "lists": [
            (title, kind, lines[:SHOWN], max(len(lines) - SHOWN, 0))
            for title, kind, lines in (
                ("Refused", "danger", _lines(found.errors)),
                ("Left out", "warning", _lines(found.left_out)),
                ("To consider", "warning", _lines(warnings)),
                ("Said anew, and passed over", "info", notes),
            )
            if lines
        ],
    }


def _counted(rows: Any) -> tuple[int, int, int]:
    added = sum(1 for row in rows if row.before is None)
    removed = sum(1 for row in rows if row.after is None)
    return added, len(rows) - added - removed, removed


def _shown(table: str, row: Any) -> ChangedRow:
    """A row that would change; one that is not there yet has no page."""
    found = changed_row(table, row)
    return found if row.before is not None else found._replace(url="")


def _lines(found: list[Told]) -> list[str]:
    return [f"{one.where}, {one.finding.field or 'row'}: {one.finding.message} ({one.finding.code})" for one in found]
