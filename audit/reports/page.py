"""The page *Reports*: how many turns, how many not understood, and where; every number of turns links to them."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.models import CeCountProgress
from audit.reports.chart import BarChart, draw_bars
from audit.reports.measures import MEASURES, NOT_UNDERSTOOD_TURNS, TURNS, Measure
from audit.reports.release_marks import ReleaseMark, mark_releases
from audit.reports.report import Period, Report, Totals, build_report, read_error_hours
from audit.reports.report_request import CSV, ReportNumber, ReportRequest, build_url, link_turns
from convengine.engine.turn.labels import code_label

TITLE = "Reports"


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
    wanted = ReportRequest(request)
    report = build_report(wanted.selection)
    periods = [_build_row(report, _name_period(period, report), period.totals, period) for period in report.periods]
    if wanted.format == CSV:
        rows = ((row.name, *(number.value for number in row.numbers.values())) for row in periods)
        return wanted.answer_csv("report", ("period", *MEASURES), rows)
    marks = mark_releases(report.periods)
    periods = [row._replace(mark=mark) for row, mark in zip(periods, marks, strict=True)]
    selection = wanted.selection
    context = {
        "measures": list(MEASURES.values()),
        "whole": _build_row(report, "All", report.totals),
        "periods": list(reversed(periods)),
        "unit": "hour" if selection.goes_by_hour else "day",
        "chart": _draw(periods),
        "intents": [
            _build_row(report, code_label(group.name), group.totals, intent=group.name) for group in report.intents
        ],
        "releases": [_build_row(report, group.name, group.totals, release=group.name) for group in report.releases],
        "states": [(code_label(name), link_turns(selection, turns, state=name)) for name, turns in report.states],
        "errors": list(_build_errors(report)),
        "counted_at": CeCountProgress.objects.values_list("seen_at", flat=True).first(),
    }
    return wanted.render("audit/report.html", TITLE, context)


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
        yield ErrorRow(name, link_turns(report.selection, turns, error=name), *hours.get(name, (None, None)))


def _draw(rows: Sequence[ReportRow]) -> BarChart:
    marks = [(row.mark.short, row.mark.title) if row.mark else None for row in rows]
    return draw_bars([_describe_bar(row) for row in rows], marks)


def _describe_bar(row: ReportRow) -> tuple[str, str, int, int]:
    turns, marked = (int(row.numbers[measure.name].value or 0) for measure in (TURNS, NOT_UNDERSTOOD_TURNS))
    return row.name, f"{row.name}: {turns} turns, {marked} not understood", turns, marked
