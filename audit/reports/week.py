"""The last seven days beside the seven before: what got worse, since which release, and what to teach first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django.db.models import Case, Count, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.urls import reverse
from django.utils import timezone

from audit.models import CeInboxGroup
from audit.models.inbox import ORDER_OF_NOT_UNDERSTOOD, order_groups
from audit.record.days import WEEK, choose_days
from audit.reports.effect import RATES, ReleaseGroup, find_turning_point, group_releases, judge_rate, list_effects
from audit.reports.funnel import build_funnels
from audit.reports.measures import FAILED, HANDED_OVER, NOT_UNDERSTOOD_TURNS, OUTCOMES, TASK_FAILED, Measure
from audit.reports.proportion import FEWEST_TURNS, Proportion
from audit.reports.report import ReportSelection, Totals, read_releases
from convengine.engine.text.compare import shorten_line
from convengine.server.interfaces.turn_reports import (
    LosingForm,
    MessageGroup,
    RateVerdict,
    WeekOutcome,
    WeekRate,
    WeekSummary,
)
from convengine.server.sessions.models import CeConversationHistory

_Kind = CeInboxGroup.Kind
#: At this share or above, in percent, somebody should look, whatever it was before.
_HIGH = {NOT_UNDERSTOOD_TURNS: 15.0, HANDED_OVER: 30.0, TASK_FAILED: 3.0, FAILED: 3.0}
#: A form that fewer users began is not said to lose them.
_FEWEST_FORMS = 10
#: How many groups the week shows.
MOST_GROUPS = 3
_LONGEST_TEXT = 120


def shift_back(week: ReportSelection) -> ReportSelection:
    """These days and hours in the week before."""
    return replace(week, since=week.since - WEEK, until=week.until - WEEK)


def summarise_week() -> WeekSummary:
    """The numbers of today and the six days before.

    Three queries, and more for each rate that is worse or high: turns run again to find the cause.
    """
    since, until = choose_days(WEEK.days, timezone.now())
    week = ReportSelection(since, until)
    releases, releases_before = (read_releases(each) for each in (week, shift_back(week)))
    totals = sum((of_release for _, of_release in releases), Totals())
    previous = sum((of_release for _, of_release in releases_before), Totals())
    sums = dict(releases_before)
    for number, of_release in releases:
        sums[number] = sums.get(number, Totals()) + of_release
    release_groups = group_releases(sorted(sums.items()))
    effects = list(list_effects(release_groups, releases[0][0])) if releases else []
    inbox = _read_inbox()
    return WeekSummary(
        since,
        until,
        totals.turns,
        previous.turns,
        list(_list_outcomes(totals, previous, week)),
        list(_list_rates(totals, previous, release_groups, week)),
        _find_losing_form(totals),
        effects,
        inbox.groups,
        inbox.messages,
        inbox.largest_groups,
        ORDER_OF_NOT_UNDERSTOOD,
        inbox.asked_messages,
        reverse("admin:audit_ceaudit_reports"),
        reverse("admin:audit_ceaudit_inbox"),
        f"{reverse('admin:audit_ceaudit_inbox')}?kind={_Kind.TWO_INTENTS}",
        reverse("admin:audit_ceaudit_week"),
    )


def _list_rates(
    totals: Totals, previous: Totals, groups: Sequence[ReleaseGroup], week: ReportSelection
) -> Iterator[WeekRate]:
    """Each watched rate beside the week before; of one that is worse or high, since which release and why."""
    for measure in RATES:
        rate, before = (Proportion(*measure.read_part(each)) for each in (totals, previous))
        is_worse = judge_rate(measure, rate, before) is RateVerdict.WORSE
        is_high = rate.whole >= FEWEST_TURNS and (rate.share or 0) >= _HIGH.get(measure, 101.0)
        since, cause = find_turning_point(measure, groups) if is_worse or is_high else (None, "")
        yield WeekRate(
            measure.name,
            measure.label.lower(),
            str(measure.unit),
            rate.part,
            rate.share,
            before.share,
            is_worse,
            is_high,
            since,
            link_measure(week, measure, rate.part),
            measure.higher_is_worse is not False,
            cause,
            f"{rate.whole:,} {measure.base_label}",
        )


def _list_outcomes(totals: Totals, previous: Totals, week: ReportSelection) -> Iterator[WeekOutcome]:
    """What became of the conversations that began in the week."""
    for measure in OUTCOMES:
        rate, before = (Proportion(*measure.read_part(each)) for each in (totals, previous))
        url = link_measure(week, measure, rate.part)
        yield WeekOutcome(measure.label, measure.help, rate.part, rate.share, before.share, url)


def link_measure(selection: ReportSelection, measure: Measure, number: int) -> str:
    """The search that lists what a measure counts; blank if none does, or for a number of 0."""
    return selection.search_url(**measure.search) if number and measure.search is not None else ""


def _find_losing_form(totals: Totals) -> LosingForm | None:
    """The form that loses most users, of those that lose more than half of enough users. Returns None if none does."""
    losing = [
        form
        for form in build_funnels(totals.values)
        if form.started >= _FEWEST_FORMS and 2 * form.losses > form.started
    ]
    if not losing:
        return None
    form = max(losing, key=lambda form: form.losses)
    field = form.worst_field
    url = f"{reverse('admin:audit_ceaudit_forms')}#form-{form.schema}"
    return LosingForm(
        form.title, form.started, form.losses, field.title if field else "", field.losses if field else 0, url
    )


class _Inbox(NamedTuple):
    groups: int = 0
    messages: int = 0
    largest_groups: Sequence[MessageGroup] = ()
    #: Messages of the week after which users were asked what they meant.
    asked_messages: int = 0


def _read_inbox() -> _Inbox:
    """The open groups of messages that were not understood, the first in the order of the inbox, and what was asked.

    One query.
    """
    leader = CeConversationHistory._base_manager.filter(pk=OuterRef("leader"))
    is_asked = Q(kind=_Kind.TWO_INTENTS)
    groups = order_groups(
        CeInboxGroup.objects.filter(
            status=CeInboxGroup.Status.OPEN, kind__in=[_Kind.NOT_UNDERSTOOD, _Kind.TWO_INTENTS]
        ).annotate(
            text=Subquery(leader.values("user_input")[:1]),
            count_of_groups=Window(Count(Case(When(~is_asked, then="pk")))),
            count_of_messages=Window(Sum(Case(When(~is_asked, then="messages"), default=Value(0)))),
            asked_messages=Window(Sum(Case(When(is_asked, then="this_week"), default=Value(0)))),
        )
    )
    # Each row has the counts, so one of any kind is enough.
    asked_last = Case(When(is_asked, then=Value(1)), default=Value(0))
    first: list[Any] = list(groups.order_by(asked_last, *groups.query.order_by)[:MOST_GROUPS])
    if not first:
        return _Inbox()
    largest = [
        MessageGroup(
            shorten_line(group.text, _LONGEST_TEXT), group.messages, group.this_week, group.week_before, group.pk
        )
        for group in first
        if group.kind == _Kind.NOT_UNDERSTOOD
    ]
    return _Inbox(first[0].count_of_groups, first[0].count_of_messages, largest, first[0].asked_messages)
