"""What the pages of the reports share: the right, the filters, the tabs, numbers that are links, and files."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.export.cells import guard_cell
from audit.record.workspaces import list_workspaces
from audit.reports.measures import TURNS, Measure, Number
from audit.reports.report import Selection
from audit.reports.selection_form import ReportPageForm
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.database.sql import database_time

#: The parameters that choose a file of a page.
FORMAT, PART = "format", "part"
CSV, SVG = "csv", "svg"
_TIME = "l j F Y, H:i"
#: The space above the drawing in the file of a chart.
HEAD = 44
_PAGES = (
    ("Overview", "admin:audit_ceaudit_reports"),
    ("Not understood", "admin:audit_ceaudit_not_understood"),
    ("Forms", "admin:audit_ceaudit_forms"),
    ("Feedback", "admin:audit_ceaudit_ratings"),
    ("Times", "admin:audit_ceaudit_times"),
    ("Models", "admin:audit_ceaudit_models"),
    ("Rows", "admin:audit_ceaudit_rows"),
)


class ReportNumber(NamedTuple):
    """A number of a report, and the address of the turns that it counts."""

    measure: Measure
    #: Null without anything to take the mean of.
    value: Number | None
    #: Blank if no search lists them, and for 0.
    url: str = ""
    #: In percent of what the measure is a share of.
    share: float | None = None
    #: How many it is a share of.
    base: Number | None = None


class ChartFile(NamedTuple):
    """What a chart is called as a file, and its size without the head."""

    name: str
    title: str
    width: int
    height: int


class ReportRequest:
    """A request for a page of the reports, or for a file of it."""

    def __init__(self, request: HttpRequest) -> None:
        """Raises RightMissing for a user who may not read turns. The form shows which filters are invalid."""
        require_right(request, READ_TURNS)
        self.request = request
        self.form = ReportPageForm({"days": "7"} | request.GET.dict(), list_workspaces())
        self.form.is_valid()
        self.selection = self.form.select(database_time())
        #: The wanted file, and the part of the page that it is of; blank for the page.
        self.format, self.part = request.GET.get(FORMAT, ""), request.GET.get(PART, "")

    def build_file_url(self, form: str, part: str = "") -> str:
        wanted = {FORMAT: form} | ({PART: part} if part else {})
        return f"?{urlencode({**self._filters, **wanted})}"

    def answer_csv(self, name: str, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> HttpResponse:
        """A table as a file, with cells that no spreadsheet takes for formulas."""
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
        writer = csv.writer(response)
        writer.writerow(header)
        writer.writerows([guard_cell(cell) for cell in row] for row in rows)
        return response

    def answer_svg(self, chart: ChartFile, template: str, context: Mapping[str, Any]) -> HttpResponse:
        """A chart as a drawing with its title, in colours of its own."""
        frame = {"file": chart, "drawing": template, "full_height": chart.height + HEAD, "head": HEAD}
        text = render_to_string("audit/chart_file.svg", {**frame, **context})
        response = HttpResponse(text, content_type="image/svg+xml; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{chart.name}.svg"'
        return response

    def render(self, template: str, title: str, context: Mapping[str, Any]) -> HttpResponse:
        """The page, with the form, the links to the other reports, and what `context` adds."""
        query = f"?{urlencode(self._filters)}" if self._filters else ""
        pages = [(label, reverse(name)) for label, name in _PAGES]
        frame = {
            "title": title,
            "form": self.form,
            "report_pages": [(label, f"{url}{query}", url == self.request.path) for label, url in pages],
            "csv_url": self.build_file_url(CSV),
            "period": describe_period(self.selection.since, self.selection.until),
        }
        return TemplateResponse(self.request, template, {**admin.site.each_context(self.request), **frame, **context})

    @property
    def _filters(self) -> dict[str, str]:
        given = self.request.GET.dict()
        return {name: str(text) for name, text in given.items() if text and name not in (FORMAT, PART)}


def describe_period(since: datetime, until: datetime) -> str:
    """A period in words, from a full hour to a full hour; the present hour is not complete."""
    end = "now" if until > timezone.now() else date_format(localtime(until), _TIME)
    return f"from {date_format(localtime(since), _TIME)}, to {end}"


def link_turns(selection: Selection, turns: int, **filters: str) -> ReportNumber:
    """A number of turns with the search that lists them; 0 has none."""
    return ReportNumber(TURNS, turns, selection.search_url(**filters) if turns else "")
