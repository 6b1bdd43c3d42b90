"""The page *Effect*: the rates before and after a release, with their uncertainty, and what moved most."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from audit.reports.effect import (
    Comparison,
    MovedShare,
    ReleaseGroup,
    build_rate_search,
    compare_release,
    effect_url,
    judge_effect,
    judge_rate,
    list_moved_intents,
    list_moved_openings,
    list_moved_states,
)
from audit.reports.measures import Measure
from audit.reports.proportion import FEWEST_TURNS, Proportion
from audit.reports.report_request import RIGHT, describe_period
from convengine.engine.turn.labels import format_percent, state_label
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.release_history import ReleaseNote, release_history
from convengine.server.interfaces.turn_reports import Verdict

#: The drawing of a rate in its own units.
_WIDTH, _EDGE = 240, 6
#: How many intents the first section names.
MOST_NAMED = 3


class SharePoint(NamedTuple):
    """A share with its uncertainty, as the page shows it."""

    share: float | None
    low: float
    high: float
    part: int
    whole: int
    url: str = ""


class Mark(NamedTuple):
    """A share in the drawing: a dot on the line of its uncertainty."""

    start: float
    x: float
    end: float
    y: int
    is_after: bool


class RateLine(NamedTuple):
    """A rate before and after."""

    measure: Measure
    before: SharePoint
    after: SharePoint
    verdict: Verdict
    #: With all later releases; null if there are none.
    since_then: SharePoint | None
    verdict_since_then: Verdict
    #: The scale of the drawing, in percent.
    top: float
    #: What the same messages do before and after the release; blank for a rate that is not worse.
    cause: str = ""

    @property
    def marks(self) -> list[Mark]:
        """What the drawing shows, before above after."""
        scale = (_WIDTH - 2 * _EDGE) / self.top
        return [
            Mark(_EDGE + point.low * scale, _EDGE + point.share * scale, _EDGE + point.high * scale, y, is_after)
            for point, y, is_after in ((self.before, 10, False), (self.after, 24, True))
            if point.share is not None
        ]


@page("reports/release/<int:number>/", of="audit.CeAudit", name="effect", from_replica=True)
def effect_page(request: HttpRequest, number: int) -> HttpResponse:
    """The effect of a release."""
    require_right(request, RIGHT)
    notes = release_history().list_release_notes([number])
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


def _describe(comparison: Comparison, release: ReleaseNote) -> dict[str, Any]:
    lines = list(_build_lines(comparison))
    others = [number for number in range(comparison.after.first, comparison.after.last + 1) if number != release.number]
    intents = [(name_intent(share.name), share) for share in list_moved_intents(comparison)]
    openings = [(name_intent(share.name), share) for share in list_moved_openings(comparison)]
    return {
        "lines": lines,
        "period": describe_period(comparison.since, comparison.until),
        "summary": _summarise(lines, comparison),
        "moved": _describe_moved(intents, "turns") or _describe_moved(openings, "conversations begun"),
        "intents": intents,
        "openings": openings,
        "states": [(state_label(share.name), share) for share in list_moved_states(comparison)],
        "together": release_history().list_release_notes(others[-20:]) if others else [],
        "previous_url": effect_url(comparison.before.last) if comparison.before else "",
        "has_too_few": comparison.after.totals.turns < FEWEST_TURNS
        or (comparison.before is not None and comparison.before.totals.turns < FEWEST_TURNS),
    }


def _build_lines(comparison: Comparison) -> Iterable[RateLine]:
    has_later = comparison.since_then.turns > comparison.after.totals.turns
    for measure, before, after, since_then in comparison.rates:
        points = [
            _build_point(before, comparison, comparison.before, measure),
            _build_point(after, comparison, comparison.after, measure),
        ]
        top = max([5.0, *(point.high for point in points if point.whole)])
        later = _build_point(since_then, comparison, None, measure) if has_later else None
        verdict, cause = judge_rate(measure, after, before), ""
        # Both sides of a gradual release had the same users at the same time: what differs is the release.
        if comparison.before and not comparison.is_gradual:
            verdict, cause = judge_effect(measure, comparison.after, comparison.before)
        verdict_since_then = judge_rate(measure, since_then, before)
        yield RateLine(measure, points[0], points[1], verdict, later, verdict_since_then, top, cause)


def _build_point(rate: Proportion, comparison: Comparison, group: ReleaseGroup | None, measure: Measure) -> SharePoint:
    low, high = rate.interval
    # The search filters by one release, and lists all hand-overs, also more than conversations that began.
    has_list = group is not None and group.first == group.last and measure.count(group.totals) == rate.part > 0
    period = comparison.since, comparison.until
    url = build_rate_search(measure, *period, release=group.last) if group and has_list else ""
    return SharePoint(rate.share, low, high, rate.part, rate.whole, url)


def _summarise(lines: Sequence[RateLine], comparison: Comparison) -> str:
    """The effect in one sentence."""
    if comparison.before is None:
        return "There is nothing to compare with: no earlier release had turns in the 30 days before."
    if lines[0].verdict is Verdict.TOO_FEW:
        return f"There are too few turns to say. Both sides need at least {FEWEST_TURNS}."
    unclear = (Verdict.SAME, Verdict.TOO_FEW)
    texts = []
    for line in lines:
        label, share = line.measure.label, format_percent(line.after.share)
        if line.verdict not in unclear:
            change = f"{label}: {format_percent(line.before.share)} → {share}, {line.verdict.value}."
            texts.append(f"{change} {line.cause}".strip())
        if line.since_then and line.verdict_since_then not in (*unclear, line.verdict):
            share = format_percent(line.since_then.share)
            texts.append(f"{label} with all later releases: {share}, {line.verdict_since_then.value}.")
    return " ".join(texts) or "No rate differs by more than chance explains."


def _describe_moved(intents: Sequence[tuple[str, MovedShare]], whole: str) -> str:
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
    return f"Intents whose share of the {whole} changed by more than chance explains: {named}."
