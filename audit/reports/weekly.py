"""The weekly page: one sheet of A4 with the five things that matter. As a file it has nothing outside of it."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.staticfiles import finders
from django.db.models import BooleanField, Case, Sum, Value, When
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.models import CeTurnCount
from audit.record.form_steps import FormStep
from audit.reports.chart import draw_bars
from audit.reports.days import floor_hour
from audit.reports.effect import build_rate_search
from audit.reports.measures import FORMS_COMPLETED, FORMS_STARTED, HANDED_OVER, TURNS, Measure
from audit.reports.release_marks import mark_releases
from audit.reports.report import Selection, build_report, choose_days
from audit.reports.week import WEEK, summarise_week
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.app_interfaces import ReleaseEffect, ReleaseNote, WeekRate, WeekSummary, release_history

MOST_FLOWS = 6
_STYLE = "convengine/weekly.css"
_DAYS = 14
#: The kinds of counts of forms.
_STARTED, _COMPLETED, *_GIVEN_UP = (
    f"{CeTurnCount.FORM}{step}" for step in (FormStep.STARTED, FormStep.COMPLETED, FormStep.GAVE_UP, FormStep.LEFT)
)
_FLOW_KINDS = (CeTurnCount.TURN, CeTurnCount.HANDED_OVER, _STARTED, _COMPLETED, *_GIVEN_UP)


class WorseRate(NamedTuple):
    """A rate that got worse or is high, and the release that stands out."""

    rate: WeekRate
    note: ReleaseNote | None


class MovingRelease(NamedTuple):
    """A release since which messages have other intents, and no rate is worse."""

    effect: ReleaseEffect
    note: ReleaseNote | None


class FlowNumber(NamedTuple):
    """A number of a flow, and the address of the turns that it counts; blank if no search lists them."""

    value: int
    url: str = ""


class FlowLine(NamedTuple):
    """The turns of a flow in the week, and what became of its conversations."""

    name: str
    turns: int
    #: Turns, turns of the week before, forms started, completed and given up, conversations handed over.
    numbers: Sequence[FlowNumber]


def render_weekly_page(now: datetime | None = None, *, is_file: bool = False) -> str:
    """The page of the last seven days. A file has its style inside, and no links."""
    now = now or timezone.now()
    until = floor_hour(now) + timedelta(hours=1)
    summary = summarise_week(now)
    report = build_report(Selection(*choose_days(_DAYS, now)))
    days = [
        (_name_day(period.since), "", period.totals.turns, period.totals.not_understood) for period in report.periods
    ]
    context: dict[str, Any] = {
        "since": until - WEEK,
        "until": now,
        "summary": summary,
        "chart": draw_bars(days, [mark and (mark.short, "") for mark in mark_releases(report.periods)]),
        **_describe_changes(summary),
        "flows": _list_flows(until),
        "is_file": is_file,
        "style": _read_style() if is_file else "",
    }
    return render_to_string("audit/weekly.html", context)


def _name_day(since: datetime) -> str:
    """A day, also one that begins before midnight because the zone differs from UTC by half an hour."""
    return date_format(localtime(since + timedelta(minutes=59)), "D j")


def _read_style() -> str:
    path = finders.find(_STYLE)
    return Path(str(path)).read_text() if path else ""


def _describe_changes(summary: WeekSummary) -> dict[str, Any]:
    """What got worse, and which releases moved messages."""
    causes = {rate.since.last for rate in summary.rates if rate.since}
    moving = [effect for effect in summary.effects if effect.shifts and effect.last not in causes]
    numbers = causes.union(effect.last for effect in moving)
    notes = {note.number: note for note in release_history().list_release_notes(numbers)} if numbers else {}
    return {
        "worse": [
            WorseRate(rate, notes.get(rate.since.last) if rate.since else None)
            for rate in summary.rates
            if rate.is_worse or rate.is_high
        ],
        "moving": [MovingRelease(effect, notes.get(effect.last)) for effect in moving],
    }


def _list_flows(until: datetime) -> list[FlowLine]:
    """The flows with the most turns. One query."""
    is_new = Case(When(hour__gte=until - WEEK, then=Value(True)), default=Value(False), output_field=BooleanField())
    counts = (
        Selection(until - 2 * WEEK, until).counts.filter(kind__in=_FLOW_KINDS).exclude(intent_code__in=("", UNKNOWN))
    )
    rows = counts.annotate(is_new=is_new).values_list("intent_code", "is_new", "kind")
    sums: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    for intent, new, kind, turns in rows.annotate(sum=Sum("turns")).order_by():
        sums[intent][bool(new), kind] += turns
    lines = (
        FlowLine(name_intent(intent), numbers[True, CeTurnCount.TURN], list(_list_flow_numbers(intent, numbers, until)))
        for intent, numbers in sums.items()
    )
    return sorted((line for line in lines if line.turns), key=lambda line: (-line.turns, line.name))[:MOST_FLOWS]


def _list_flow_numbers(intent: str, numbers: Mapping[Any, int], until: datetime) -> Iterator[FlowNumber]:
    def link(measure: Measure, kind: str, end: datetime = until) -> FlowNumber:
        number = numbers[end == until, kind]
        return FlowNumber(number, build_rate_search(measure, end - WEEK, end, intent=intent) if number else "")

    yield link(TURNS, CeTurnCount.TURN)
    yield link(TURNS, CeTurnCount.TURN, until - WEEK)
    yield link(FORMS_STARTED, _STARTED)
    yield link(FORMS_COMPLETED, _COMPLETED)
    yield FlowNumber(sum(numbers[True, kind] for kind in _GIVEN_UP))
    yield link(HANDED_OVER, CeTurnCount.HANDED_OVER)
