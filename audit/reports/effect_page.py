"""The page *Effect*: the rates before and after a release, with their uncertainty, and what moved most."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.models import CeTurnCount
from audit.reports.effect import (
    MovedShare,
    RateEffect,
    ReleaseComparison,
    ReleaseGroup,
    choose_period,
    compare_release,
    effect_url,
)
from audit.reports.measures import Measure
from audit.reports.proportion import FEWEST_TURNS, Proportion
from audit.reports.report import INTENT, ReportSelection
from audit.reports.report_request import describe_period
from convengine.engine.text.whole_numbers import BIG_INTEGER
from convengine.engine.turn.labels import format_percent, state_label
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.admin_site.rights import READ_TURNS
from convengine.server.interfaces.release_history import ReleaseNote, release_history
from convengine.server.interfaces.turn_reports import RateVerdict

#: How many intents the first section names.
MOST_NAMED = 3


class RateLine(NamedTuple):
    """A rate before and after, with the searches that list its turns; blank where none does."""

    rate: RateEffect
    before_url: str
    after_url: str


@page("reports/release/<int:number>/", of="audit.CeAudit", name="effect", from_replica=True)
def effect_page(request: HttpRequest, number: int) -> HttpResponse:
    require_right(request, READ_TURNS)
    notes = release_history().list_release_notes([number]) if number <= BIG_INTEGER else []
    if not notes:
        raise Http404(f"Release {number} does not exist.")
    release = notes[0]
    comparison = compare_release(release)
    context = {
        "title": f"Effect of release {number}",
        "release": release,
        "comparison": comparison,
        "fewest": FEWEST_TURNS,
        "may_see_release": request.user.has_perm("config_admin.view_cerelease"),
        "may_undo": request.user.has_perm("config_admin.change_cerule"),
        **(_describe(comparison, release) if comparison else {}),
    }
    return TemplateResponse(request, "audit/effect.html", {**admin.site.each_context(request), **context})


def _describe(comparison: ReleaseComparison, release: ReleaseNote) -> dict[str, Any]:
    """What the template needs of a comparison. At most 20 of the releases that are judged together are listed."""
    others = [number for number in range(comparison.after.first, comparison.after.last + 1) if number != release.number]
    intents = [(name_intent(share.name), share) for share in comparison.list_moved(INTENT)]
    period = choose_period(release)
    return {
        "lines": [_build_line(rate, comparison, period) for rate in comparison.rates],
        "period": describe_period(period.since, period.until),
        "summary": _summarise(comparison),
        "moved": _describe_moved(intents),
        "intents": intents,
        "states": [(state_label(share.name), share) for share in comparison.list_moved(CeTurnCount.STATE)],
        "together": release_history().list_release_notes(others[-20:]) if others else [],
        "previous_url": effect_url(comparison.before.last) if comparison.before else "",
    }


def _build_line(rate: RateEffect, comparison: ReleaseComparison, period: ReportSelection) -> RateLine:
    """A rate with its searches, for the sides whose turns a search lists exactly."""

    def link(group: ReleaseGroup | None, share: Proportion) -> str:
        # The search filters by one release, and lists all hand-overs, also more than conversations that began.
        has_list = group is not None and group.first == group.last and rate.measure.count(group.totals) == share.part
        return link_rate(rate.measure, period, group.last) if group and has_list and share.part else ""

    return RateLine(rate, link(comparison.before, rate.before), link(comparison.after, rate.after))


def link_rate(measure: Measure, period: ReportSelection, release: int) -> str:
    """The search that lists the turns of a rate on a release; blank if none does."""
    return "" if measure.search is None else period.search_url(**measure.search, release=str(release))


def _summarise(comparison: ReleaseComparison) -> str:
    """The effect in words: each rate that differs, or why nothing can be said."""
    if comparison.before is None:
        return "There is nothing to compare with: no earlier release had turns in the 30 days before."
    if comparison.rates[0].verdict is RateVerdict.TOO_FEW:
        return f"There are too few turns to say. Both sides need at least {FEWEST_TURNS}."
    texts = []
    for rate in comparison.rates:
        if rate.verdict not in (RateVerdict.SAME, RateVerdict.TOO_FEW):
            change = f"{format_percent(rate.before.share)} → {format_percent(rate.after.share)}"
            texts.append(f"{rate.measure.label}: {change}, {rate.verdict.value}. {rate.cause}".strip())
    return " ".join(texts) or "No rate differs by more than chance explains."


def _describe_moved(intents: Sequence[tuple[str, MovedShare]]) -> str:
    """The intents whose share clearly changed, in one sentence; blank if there are none."""
    clear = [
        f"{name} ({format_percent(share.before.share)} → {format_percent(share.after.share)})"
        for name, share in intents
        if share.is_clear
    ]
    if not clear:
        return ""
    more = f" and {len(clear) - MOST_NAMED} more" if len(clear) > MOST_NAMED else ""
    named = f"{', '.join(clear[:MOST_NAMED])}{more}"
    return f"Intents whose share of the turns changed by more than chance explains: {named}."
