"""What the pages of the reports share: the right, the form of the filters, the tabs, linked numbers, and files."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime

from audit.export.cells import format_rows
from audit.record.days import choose_days
from audit.record.queries import list_workspaces
from audit.reports.measures import TURNS, Measure, Number
from audit.reports.report import ReportSelection, choose_dates
from convengine.engine.text.compare import code
from convengine.engine.text.times import FIRST_YEAR, OUT_OF_RANGE
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.database.sql import database_time

DAYS = ((1, "Today"), (7, "7 days"), (30, "30 days"), (90, "90 days"))
_LONGEST = 200
_LONGEST_PERIOD = timedelta(days=3660)
_DATE = forms.DateInput(attrs={"type": "date"})


class ReportForm(forms.Form):
    """What the report is about; empty fields match everything."""

    days = forms.TypedChoiceField(label="Period", choices=DAYS, coerce=int, required=False)
    first = forms.DateField(
        label="From", required=False, widget=_DATE, help_text="The first day, in place of the period."
    )
    last = forms.DateField(label="To", required=False, widget=_DATE, help_text="The last day; by default today.")
    intent = forms.CharField(label="Intent", max_length=_LONGEST, required=False, help_text="After the turn.")
    channel = forms.CharField(label="Channel", max_length=_LONGEST, required=False)
    release = forms.IntegerField(label="Release", min_value=0, max_value=2**63 - 1, required=False)

    def clean_first(self) -> date | None:
        """The first day. Raises ValidationError for one that cannot be computed with in every time zone."""
        first: date | None = self.cleaned_data["first"]
        if first and first.year < FIRST_YEAR:
            raise ValidationError(f"This day {OUT_OF_RANGE}")
        return first

    def clean(self) -> dict[str, Any]:
        """A range must be in order, have begun, and not be longer than ten years."""
        first, last = self.cleaned_data.get("first"), self.cleaned_data.get("last")
        if first and first > localdate():
            self.add_error("first", "The first day must not be after today.")
        if last and not self.data.get("first"):
            self.add_error("first", "Enter the first day, too.")
        if first and last and last < first:
            self.add_error("last", "The last day must not be before the first one.")
        if first and (last or localdate()) - first > _LONGEST_PERIOD:
            self.add_error("first", "Choose at most ten years.")
        return self.cleaned_data

    def select(self, now: datetime, workspace: str = "") -> ReportSelection:
        """The selection. A field that is not valid limits nothing; without a valid period, the last seven days.

        `workspace` takes the place of the field.
        """
        cleaned = self.cleaned_data
        since, until = choose_days(cleaned.get("days") or 7, now)
        if first := cleaned.get("first"):
            since, until = choose_dates(first, cleaned.get("last") or localdate(), now)
        return ReportSelection(
            since,
            until,
            workspace or cleaned.get("workspace") or "",
            channel=cleaned.get("channel") or "",
            intent=code(cleaned.get("intent")),
            release=cleaned.get("release"),
        )


class ReportPageForm(ReportForm):
    """The form of the pages, whose readers see all workspaces; callers of the API see their own."""

    workspace = forms.CharField(label="Workspace", max_length=_LONGEST, required=False)

    def __init__(self, given: dict[str, Any], workspaces: list[str]) -> None:
        super().__init__(given)
        self.workspaces = workspaces
        self.fields["workspace"].widget.attrs |= {"list": "workspace_names", "autocomplete": "off"}
        if len(workspaces) < 2 and not given.get("workspace"):
            del self.fields["workspace"]

    @property
    def has_more_filters(self) -> bool:
        """True if any filter besides the period is given; the page shows them then."""
        return any(self.data.get(name) for name in self.fields if name != "days")


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
        headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
        return HttpResponse(format_rows([header, *rows]), content_type="text/csv; charset=utf-8", headers=headers)

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


def link_turns(selection: ReportSelection, turns: int, **filters: str) -> ReportNumber:
    """A number of turns with the search that lists them; 0 has none."""
    return ReportNumber(TURNS, turns, selection.search_url(**filters) if turns else "")
