"""The pages of the reports that are declared as topics; every number of turns links to them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.models import CeCountProgress
from audit.reports.chart import BarChart, ReleaseMark, draw_bars, mark_releases
from audit.reports.measures import Measure
from audit.reports.report import (
    Period,
    PeriodUnit,
    Report,
    ReportSelection,
    Totals,
    TurnGroup,
    build_report,
    list_groups,
    read_days,
)
from audit.reports.report_request import CSV, SVG, ChartFile, ReportNumber, ReportRequest
from audit.reports.topics import OVERVIEW, TOPICS, WORDINGS, BarsOverTime, GroupTable, ReportTopic
from convengine.server.admin_site.pages import SidebarEntry, page
from convengine.server.admin_site.rights import READ_TURNS

#: How hours, days and months are named.
_FORMATS = {PeriodUnit.HOUR: "D H:i", PeriodUnit.DAY: "D j M", PeriodUnit.MONTH: "M Y"}


class ReportRow(NamedTuple):
    """A row of a table: its name, and each measure by name."""

    name: str
    numbers: Mapping[str, ReportNumber]
    #: The releases of its hour or day.
    mark: ReleaseMark | None = None
    #: Its own page; blank without one.
    url: str = ""
    #: What it is called in files and searches, where the name says something else.
    code: str = ""
    #: The days on which it was first and last counted, of a table that has them.
    days: Sequence[str] = ()


class ReportTable(NamedTuple):
    name: str
    label: str
    noun: str
    measures: Sequence[Measure]
    rows: Sequence[ReportRow]
    csv_url: str
    #: How many more there are.
    more: int = 0


class ChartView(NamedTuple):
    spec: BarsOverTime
    title: str
    drawing: BarChart
    description: str
    svg_url: str
    file_name: str


@page(
    "reports/",
    of="audit.CeAudit",
    from_replica=True,
    right=READ_TURNS,
    entry=SidebarEntry("Reports", "Reports", "How many turns, how many not understood, and where.", 0),
)
def report_page(request: HttpRequest, topic: ReportTopic = OVERVIEW) -> HttpResponse:
    """The report of a period about a topic: as a page, its tables as CSV, its charts as SVG."""
    wanted = ReportRequest(request)
    if wanted.format == CSV and wanted.part:
        return _answer_table(wanted, topic)
    report = build_report(wanted.selection, has_durations=_needs_durations(topic.measures))
    if wanted.format == CSV:
        rows = (
            (_format_start(period, report), *_list_values(topic.measures, period.totals)) for period in report.periods
        )
        return wanted.answer_csv(topic.name, ("period", *_list_names(topic.measures)), rows)
    unit = wanted.selection.unit
    if wanted.format == SVG:
        return _answer_chart(wanted, topic, report, unit)
    columns = topic.columns or topic.measures
    marks = mark_releases(report.periods)
    periods = [
        build_row(wanted.selection, _name_period(period, report), columns, period.totals, period=period, mark=mark)
        for period, mark in zip(report.periods, marks, strict=True)
    ]
    context = {
        "topic": topic,
        "columns": columns,
        **_build_figures(wanted.selection, topic, report.totals),
        "has_turns": report.totals.turns > 0,
        "periods": list(reversed(periods)),
        "unit": unit,
        "charts": [_draw(wanted, topic, chart, report, marks, unit) for chart in topic.charts],
        "tables": [_build_table(wanted, table) for table in topic.tables],
        "counted_at": CeCountProgress.objects.filter(pk=CeCountProgress.TURNS)
        .values_list("seen_at", flat=True)
        .first(),
        **(topic.build_extra(wanted) if topic.build_extra else {}),
    }
    return wanted.render("audit/report.html", topic.title, context)


def _build_figures(selection: ReportSelection, topic: ReportTopic, totals: Totals) -> dict[str, Any]:
    """The numbers of the whole period: the outcomes, what matters else, and the folded rest."""
    whole = build_row(selection, "All", topic.measures, totals)
    numbers = whole.numbers
    apart = (*topic.outcomes, *topic.folded)
    return {
        "whole": whole,
        "outcomes": [numbers[measure.name] for measure in topic.outcomes],
        "figures": [number for number in numbers.values() if number.measure not in apart],
        "folded": [numbers[measure.name] for measure in topic.folded],
    }


def _answer_table(wanted: ReportRequest, topic: ReportTopic) -> HttpResponse:
    """The file of a table, with all its groups. Raises Http404 for a table that the page does not have."""
    table = next((table for table in topic.tables if table.dimension.name == wanted.part), None)
    if table is None:
        raise Http404(f"This page has no table {wanted.part!r}.")
    name_group = WORDINGS[table.dimension].name
    rows = (
        (group.name, name_group(group.name), *_list_values(table.measures, group.totals))
        for group in _list_groups(wanted, table)
    )
    header = (wanted.part, "name", *_list_names(table.measures))
    return wanted.answer_csv(f"{topic.name}-{wanted.part}", header, rows)


def _answer_chart(wanted: ReportRequest, topic: ReportTopic, report: Report, unit: str) -> HttpResponse:
    """The file of a chart. Raises Http404 for a chart that the page does not have."""
    chart = next((chart for chart in topic.charts if chart.name == wanted.part), None)
    if chart is None:
        raise Http404(f"This page has no chart {wanted.part!r}.")
    view = _draw(wanted, topic, chart, report, mark_releases(report.periods), unit)
    file = ChartFile(view.file_name, view.title, view.drawing.width, view.drawing.height)
    return wanted.answer_svg(file, "audit/chart_bars.svg", {"chart": view})


def _needs_durations(measures: Sequence[Measure]) -> bool:
    return any(measure.needs_durations for measure in measures)


def _list_names(measures: Sequence[Measure]) -> list[str]:
    return [measure.name for measure in measures]


def _list_values(measures: Sequence[Measure], totals: Totals) -> list[Any]:
    return [measure.read_number(totals) for measure in measures]


def _name_period(period: Period, report: Report) -> str:
    unit = report.selection.unit
    start = localtime(period.since if unit == PeriodUnit.HOUR else period.since + timedelta(minutes=59))
    return date_format(start, _FORMATS[unit])


def _format_start(period: Period, report: Report) -> str:
    """As files name an hour, or a day or month by its first day."""
    if report.selection.unit == PeriodUnit.HOUR:
        return localtime(period.since).isoformat()
    return localtime(period.since + timedelta(minutes=59)).date().isoformat()


def build_row(
    selection: ReportSelection,
    name: str,
    measures: Sequence[Measure],
    totals: Totals,
    *,
    filters: Mapping[str, str] | None = None,
    period: Period | None = None,
    mark: ReleaseMark | None = None,
    url: str = "",
    code: str = "",
    has_lists: bool = True,
) -> ReportRow:
    """A row with each measure of some turns, as links to the turns that it counts.

    `filters` and `period` limit the search to the turns of the row. Without `has_lists`, no search lists them. `mark`,
    `url` and `code` are those of ReportRow; a `code` that is the name itself is left out.
    """
    numbers = {
        measure.name: _build_number(selection, measure, totals, period, (filters or {}) if has_lists else None)
        for measure in measures
    }
    return ReportRow(name, numbers, mark, url, code if code != name else "")


def _build_number(
    selection: ReportSelection,
    measure: Measure,
    totals: Totals,
    period: Period | None,
    filters: Mapping[str, str] | None,
) -> ReportNumber:
    """A number with the search that lists its turns. None for 0, and where `filters` lack a value."""
    number, url = measure.read_number(totals), ""
    if number and measure.search is not None and filters is not None and all(filters.values()):
        of_period = replace(selection, since=period.since, until=period.until) if period else selection
        url = of_period.search_url(**filters, **measure.search)
    base = measure.base.count(totals) if measure.base else None
    return ReportNumber(measure, number, url, measure.read_share(totals), base)


def _list_groups(wanted: ReportRequest, table: GroupTable) -> list[TurnGroup]:
    """The groups with any number but zero, those with the most of the first measure first; then all that have none."""
    # An intent has turns of many kinds, but only those of the first measure matter.
    deciding = table.measures if table.dimension.column == "value" else table.measures[:1]
    groups = [
        group
        for group in list_groups(wanted.selection, table.dimension, has_durations=_needs_durations(table.measures))
        if any(measure.count(group.totals) for measure in deciding)
    ]
    groups.sort(key=lambda group: [-(measure.read_number(group.totals) or 0) for measure in table.measures])
    wording = WORDINGS[table.dimension]
    others = wording.list_names() - {group.name for group in groups} if wording.list_names else ()
    return [*groups, *(TurnGroup(name, Totals()) for name in sorted(others, key=wording.name))]


def _build_table(wanted: ReportRequest, table: GroupTable) -> ReportTable:
    """A table with its first groups, and how many more there are."""
    groups, wording = _list_groups(wanted, table), WORDINGS[table.dimension]
    shown = groups[: table.most]
    days = read_days(table.dimension.kinds, [group.name for group in shown]) if table.has_days else {}
    rows = [
        build_row(
            wanted.selection,
            wording.name(group.name),
            table.measures,
            group.totals,
            code=group.name,
            filters=wording.search(group.name) if wording.search else {},
            url=wording.url(group.name) if wording.url else "",
            has_lists=wording.search is not None,
        )._replace(
            days=[date_format(localtime(day + timedelta(minutes=59)), "D j M Y") for day in days.get(group.name, ())]
        )
        for group in shown
    ]
    dimension, csv_url = table.dimension, wanted.build_file_url(CSV, table.dimension.name)
    more = max(len(groups) - table.most, 0)
    return ReportTable(dimension.name, dimension.label, dimension.noun, table.measures, rows, csv_url, more)


def _draw(
    wanted: ReportRequest,
    topic: ReportTopic,
    chart: BarsOverTime,
    report: Report,
    marks: Sequence[ReleaseMark | None],
    unit: str,
) -> ChartView:
    """A chart with the bars of all periods and the marks of releases, and its description in words."""
    values = [_describe_bar(chart, _name_period(period, report), period.totals) for period in report.periods]
    drawing = draw_bars(values, [(mark.short, mark.title) if mark else None for mark in marks])
    _, text, *_ = _describe_bar(chart, "All", report.totals)
    description = f"{text}. The table below has the numbers by {unit}."
    url, file_name = wanted.build_file_url(SVG, chart.name), f"{topic.name}-{chart.name}"
    return ChartView(chart, f"{chart.title} by {unit}", drawing, description, url, file_name)


def _describe_bar(chart: BarsOverTime, name: str, totals: Totals) -> tuple[str, str, float, float]:
    """A bar as `draw_bars` takes it: name, title, the whole, and the part of it that is marked."""
    whole = float(chart.whole.read_number(totals) or 0)
    text = f"{name}: {chart.whole.label.lower()} {whole:g}"
    if chart.part is None:
        return name, text, whole, 0
    part = float(chart.part.read_number(totals) or 0)
    return name, f"{text}, {chart.part.label.lower()} {part:g}", whole, min(part, whole)


for _topic in TOPICS[1:]:
    _declare = page(f"reports/{_topic.path}", of="audit.CeAudit", name=_topic.name, from_replica=True)
    _declare(partial(report_page, topic=_topic))
