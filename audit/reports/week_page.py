"""The page about the last seven days: what was asked, what was not understood, the flows, and what got worse."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.contrib import admin
from django.db.models import BooleanField, Case, Sum, Value, When
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.access_log.write import log_row_access
from audit.models import CeTurnCount
from audit.record.form_steps import FormStep
from audit.reports.days import floor_hour
from audit.reports.effect import build_rate_search
from audit.reports.measures import FORMS_COMPLETED, FORMS_STARTED, HANDED_OVER, TURNS, Measure
from audit.reports.report import Selection
from audit.reports.report_request import RIGHT
from audit.reports.week import WEEK, summarise_week
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.release_history import ReleaseNote, release_history
from convengine.server.interfaces.turn_reports import ReleaseEffect, WeekRate, WeekSummary

MOST_FLOWS = 6
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


@page("reports/week/", of="audit.CeAudit", name="week", from_replica=True)
def week_page(request: HttpRequest) -> HttpResponse:
    """What matters of the last seven days; reading it is logged, because it quotes messages."""
    require_right(request, RIGHT)
    log_row_access(request, None)
    now = timezone.now()
    until = floor_hour(now) + timedelta(hours=1)
    summary = summarise_week(now)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": f"The week to {date_format(localtime(now), 'j F Y')}",
        "since": until - WEEK,
        "summary": summary,
        **_describe_changes(summary),
        "flows": _list_flows(until),
    }
    return TemplateResponse(request, "audit/week.html", context)


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
    counts = Selection(until - 2 * WEEK, until).select_counts(is_by_hour=True)
    counts = counts.filter(kind__in=_FLOW_KINDS).exclude(intent_code__in=("", UNKNOWN))
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
