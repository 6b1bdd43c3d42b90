"""The page *Reports*: how many turns, how many not understood, and where; every number of turns links to them."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.timezone import localdate, localtime

from audit.models import CeCountProgress
from audit.reports.chart import BarChart, draw_bars
from audit.reports.measures import MEASURES, NOT_UNDERSTOOD_TURNS, TURNS, Measure, Number
from audit.reports.release_marks import ReleaseMark, mark_releases
from audit.reports.report import (
    Period,
    Report,
    Selection,
    Totals,
    build_report,
    choose_dates,
    choose_days,
    read_error_hours,
)
from convengine.engine.text.compare import code, storable
from convengine.engine.turn.labels import code_label
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.database.sql import database_time

RIGHT = "ce_sessions.view_ceconversationhistory"
TITLE = "Reports"
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

    def clean(self) -> dict[str, Any]:
        """A range must be in order, have begun, and not be longer than ten years."""
        first, last = self.cleaned_data.get("first"), self.cleaned_data.get("last")
        if first and first > localdate():
            self.add_error("first", "The first day must not be after today.")
        if last and not first:
            self.add_error("first", "Enter the first day, too.")
        if first and last and last < first:
            self.add_error("last", "The last day must not be before the first one.")
        if first and (last or localdate()) - first > _LONGEST_PERIOD:
            self.add_error("first", "Choose at most ten years.")
        return self.cleaned_data

    def select(self, now: datetime, workspace: str = "") -> Selection:
        """The selection; of a field that is not valid, everything."""
        cleaned = self.cleaned_data
        since, until = choose_days(cleaned.get("days") or 7, now)
        if first := cleaned.get("first"):
            since, until = choose_dates(first, cleaned.get("last") or localdate(), now)
        return Selection(
            since,
            until,
            workspace,
            channel=storable(cleaned.get("channel") or ""),
            intent=code(storable(cleaned.get("intent") or "")),
            release=cleaned.get("release"),
        )


class ReportNumber(NamedTuple):
    """A number of a report, and the address of the turns that it counts."""

    measure: Measure
    #: Null without anything to take the mean of.
    value: Number | None
    #: Blank if no search lists them, or there are none.
    url: str = ""
    #: In percent of what the measure is a share of.
    share: float | None = None


class ReportRow(NamedTuple):
    """A row of a table: its name, and each measure by name."""

    name: str
    numbers: Mapping[str, ReportNumber]
    #: The releases of its hour or day.
    mark: ReleaseMark | None = None


class ErrorRow(NamedTuple):
    """An error code in the table, with the hours in which it first and last occurred, also outside of the period."""

    name: str
    number: ReportNumber
    first: datetime | None
    last: datetime | None


def report_page(request: HttpRequest) -> HttpResponse:
    """The report of a period, as a page or as CSV."""
    require_right(request, RIGHT)
    form = ReportForm({"days": "7"} | request.GET.dict())
    form.is_valid()
    selection = form.select(database_time())
    report = build_report(selection)
    periods = [_build_row(report, _name_period(period, report), period.totals, period) for period in report.periods]
    if request.GET.get("format") == "csv":
        return _answer_csv(periods)
    marks = mark_releases(report.periods)
    periods = [row._replace(mark=mark) for row, mark in zip(periods, marks, strict=True)]
    context = {
        "title": TITLE,
        "form": form,
        "report_pages": list_report_pages(request),
        "measures": list(MEASURES.values()),
        "whole": _build_row(report, "All", report.totals),
        "periods": list(reversed(periods)),
        "unit": "hour" if selection.goes_by_hour else "day",
        "chart": _draw(periods),
        "intents": [
            _build_row(report, code_label(group.name), group.totals, intent=group.name) for group in report.intents
        ],
        "releases": [_build_row(report, group.name, group.totals, release=group.name) for group in report.releases],
        "states": [(code_label(name), _link_turns(report, turns, state=name)) for name, turns in report.states],
        "errors": list(_build_errors(report)),
        "counted_at": CeCountProgress.objects.values_list("seen_at", flat=True).first(),
        "csv_url": f"?{urlencode({**request.GET.dict(), 'format': 'csv'})}",
    }
    return TemplateResponse(request, "audit/report.html", {**admin.site.each_context(request), **context})


def list_report_pages(request: HttpRequest) -> list[tuple[str, str, bool]]:
    """The pages of the reports with the same filters: label, address, whether it is this one."""
    query = request.GET.copy()
    query.pop("format", None)
    names = (
        ("Overview", "admin:audit_ceaudit_reports"),
        ("Forms", "admin:audit_ceaudit_forms"),
        ("Rows", "admin:audit_ceaudit_rows"),
    )
    pages = [(label, reverse(name)) for label, name in names]
    return [(label, f"{url}?{query.urlencode()}" if query else url, url == request.path) for label, url in pages]


def _name_period(period: Period, report: Report) -> str:
    start = localtime(period.since + timedelta(minutes=59) if not report.selection.goes_by_hour else period.since)
    return date_format(start, "D j M" if not report.selection.goes_by_hour else "D H:i")


def _build_row(report: Report, name: str, totals: Totals, period: Period | None = None, **filters: str) -> ReportRow:
    return ReportRow(
        name,
        {measure.name: _build_number(report, measure, totals, period, filters) for measure in MEASURES.values()},
    )


def _build_number(
    report: Report, measure: Measure, totals: Totals, period: Period | None, filters: Mapping[str, str]
) -> ReportNumber:
    count = measure.count(totals) if measure.is_share else measure.read_value(totals)
    has_list = measure.search is not None and bool(count)
    url = build_url(report.selection, period, {**filters, **(measure.search or {})}) if has_list else ""
    return ReportNumber(measure, count, url, measure.read_share(totals))


def _build_errors(report: Report) -> Iterator[ErrorRow]:
    hours = read_error_hours([name for name, _ in report.errors])
    for name, turns in report.errors:
        yield ErrorRow(name, _link_turns(report, turns, error=name), *hours.get(name, (None, None)))


def _link_turns(report: Report, turns: int, **filters: str) -> ReportNumber:
    return ReportNumber(TURNS, turns, url=build_url(report.selection, None, filters) if turns else "")


def build_url(selection: Selection, period: Period | None, filters: Mapping[str, str]) -> str:
    """The search that lists turns of a selection, or of one period of it."""
    since, until = (period.since, period.until) if period else (selection.since, selection.until)
    wanted = {
        "intent": selection.intent,
        "channel": selection.channel,
        "release": "" if selection.release is None else str(selection.release),
        **filters,
        "since": since.isoformat(),
        # The search includes its end.
        "until": (until - timedelta(microseconds=1)).isoformat(),
    }
    given = urlencode({name: value for name, value in wanted.items() if value})
    return f"{reverse('admin:audit_ceaudit_find')}?{given}"


def _draw(rows: Sequence[ReportRow]) -> BarChart:
    marks = [(row.mark.short, row.mark.title) if row.mark else None for row in rows]
    return draw_bars([_describe_bar(row) for row in rows], marks)


def _describe_bar(row: ReportRow) -> tuple[str, str, int, int]:
    turns, marked = (int(row.numbers[measure.name].value or 0) for measure in (TURNS, NOT_UNDERSTOOD_TURNS))
    return row.name, f"{row.name}: {turns} turns, {marked} not understood", turns, marked


def _answer_csv(rows: Sequence[ReportRow]) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="report.csv"'
    writer = csv.writer(response)
    writer.writerow(("period", *MEASURES))
    writer.writerows((row.name, *(number.value for number in row.numbers.values())) for row in rows)
    return response
