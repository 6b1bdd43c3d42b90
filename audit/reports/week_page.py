"""The page *The whole week*: what was asked, what was not understood, the flows, and what got worse."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import date_format
from django.utils.timezone import localtime

from audit.access_log.write import log_row_access
from audit.reports.measures import FORMS_COMPLETED, FORMS_STARTED, GIVEN_UP, HANDED_OVER, HANDED_OVER_FAILED, TURNS
from audit.reports.page import ReportRow, build_row
from audit.reports.report import ReportSelection, Totals, list_groups
from audit.reports.topics import INTENT, WORDINGS
from audit.reports.week import shift_back, summarise_week
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.release_history import release_history
from convengine.server.interfaces.turn_reports import WeekSummary

MOST_FLOWS = 6
_HOUR = timedelta(hours=1)
_BEFORE = replace(TURNS, name="before", label="Before", help="Turns in the same days a week before.")
_MEASURES = (TURNS, FORMS_STARTED, FORMS_COMPLETED, GIVEN_UP, HANDED_OVER, HANDED_OVER_FAILED)


@page("reports/week/", of="audit.CeAudit", name="week", from_replica=True, right=READ_TURNS)
def week_page(request: HttpRequest) -> HttpResponse:
    """The last seven days beside the seven before; reading it is logged, because it quotes messages."""
    log_row_access(request, None)
    summary = summarise_week()
    context = {
        "title": f"The week to {date_format(localtime(summary.until - _HOUR), 'j F Y')}",
        "week": summary,
        **_describe_changes(summary),
        "flow_measures": (_BEFORE, *_MEASURES),
        "flows": list(_list_flows(summary)),
    }
    return TemplateResponse(request, "audit/week.html", context)


def _describe_changes(summary: WeekSummary) -> dict[str, Any]:
    """The rates that are worse or high, and the releases since which messages have other intents, with their notes."""
    blamed = {rate.since.last for rate in summary.rates if rate.since}
    moving = [effect for effect in summary.effects if effect.shifts and effect.last not in blamed]
    numbers = blamed.union(effect.last for effect in moving)
    notes = {note.number: note for note in release_history().list_release_notes(numbers)} if numbers else {}
    worse = [rate for rate in summary.rates if rate.is_worse or rate.is_high]
    return {
        "worse": [(rate, notes.get(rate.since.last) if rate.since else None) for rate in worse],
        "moving": [(effect, notes.get(effect.last)) for effect in moving],
    }


def _list_flows(summary: WeekSummary) -> Iterator[ReportRow]:
    """The intents with the most turns. Two queries."""
    week = ReportSelection(summary.since, summary.until)
    before = shift_back(week)
    totals_before = {group.name: group.totals for group in list_groups(before, INTENT)}
    groups = [group for group in list_groups(week, INTENT) if group.totals.turns and group.name not in ("", UNKNOWN)]
    for group in groups[:MOST_FLOWS]:
        name, filters = WORDINGS[INTENT].name(group.name), {"intent": group.name}
        old = build_row(before, name, [_BEFORE], totals_before.get(group.name, Totals()), filters=filters)
        row = build_row(week, name, _MEASURES, group.totals, filters=filters, code=group.name)
        yield row._replace(numbers={**old.numbers, **row.numbers})
