"""The last seven days beside the seven before: what got worse, since which release, and what to teach first."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, Count, OuterRef, Q, Subquery, Sum, Value, When, Window
from django.urls import reverse
from django.utils import timezone

from audit.models import CeInboxGroup
from audit.models.inbox_order import ORDER_OF_NOT_UNDERSTOOD, order_groups
from audit.reports.days import floor_hour
from audit.reports.effect import RATES, ReleaseGroup, find_turning_point, group_releases, judge_rate, list_effects
from audit.reports.measures import FAILED, NEEDED_PERSON, NOT_UNDERSTOOD_TURNS
from audit.reports.proportion import FEWEST_TURNS, Proportion
from audit.reports.report import Selection, Totals, read_releases
from convengine.engine.text.compare import shorten_line
from convengine.server.interfaces.turn_reports import MessageGroup, Verdict, WeekRate, WeekSummary
from convengine.server.sessions.models import CeConversationHistory

WEEK = timedelta(days=7)
_Kind = CeInboxGroup.Kind
#: From this share on, in percent, somebody should look, whatever it was before.
_HIGH = {NOT_UNDERSTOOD_TURNS: 15.0, NEEDED_PERSON: 30.0, FAILED: 3.0}
#: How many groups the week shows.
MOST_GROUPS = 3
_LONGEST_TEXT = 120


def summarise_week() -> WeekSummary:
    """The numbers of the seven days up to now. Three queries."""
    now = floor_hour(timezone.now()) + timedelta(hours=1)
    releases, releases_before = (read_releases(Selection(until - WEEK, until)) for until in (now, now - WEEK))
    totals = sum((of_release for _, of_release in releases), Totals())
    previous = sum((of_release for _, of_release in releases_before), Totals())
    release_groups = group_releases(_join(releases_before, releases))
    effects = list(list_effects(release_groups, releases[0][0])) if releases else []
    inbox = _read_inbox()
    return WeekSummary(
        now - WEEK,
        totals.turns,
        previous.turns,
        list(_list_rates(totals, previous, release_groups, now)),
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


def _join(before: Sequence[tuple[int, Totals]], releases: Sequence[tuple[int, Totals]]) -> list[tuple[int, Totals]]:
    """The turns of both weeks by release."""
    sums = dict(before)
    for number, totals in releases:
        sums[number] = sums.get(number, Totals()) + totals
    return sorted(sums.items())


def _list_rates(
    totals: Totals, previous: Totals, groups: Sequence[ReleaseGroup], until: datetime
) -> Iterator[WeekRate]:
    week = Selection(until - WEEK, until)
    for measure in RATES:
        rate, before = (Proportion(*measure.read_part(each)) for each in (totals, previous))
        is_worse = judge_rate(measure, rate, before) is Verdict.WORSE
        is_high = rate.whole >= FEWEST_TURNS and (rate.share or 0) >= _HIGH.get(measure, 101.0)
        since, cause = find_turning_point(measure, groups) if is_worse or is_high else (None, "")
        # As many as the search lists: more may be handed over than began.
        number = int(measure.count(totals))
        yield WeekRate(
            measure.label.lower(),
            str(measure.unit),
            number,
            rate.share,
            before.share,
            is_worse,
            is_high,
            since,
            week.search_url(**measure.search) if number and measure.search is not None else "",
            measure.higher_is_worse is not False,
            cause,
            f"{rate.whole:,} {measure.base_label}",
        )


class _Inbox(NamedTuple):
    """The open groups of the inbox."""

    groups: int = 0
    messages: int = 0
    largest_groups: Sequence[MessageGroup] = ()
    #: Messages of the week after which users were asked what they meant.
    asked_messages: int = 0


def _read_inbox() -> _Inbox:
    """What was not understood, in the order of the inbox; and how much was asked. One query."""
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
