"""A report: the counts of a period, by hour, day or month, and by what the turns had in common."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self
from urllib.parse import urlencode

from django.db.models import Max, Min, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from audit.models import CeTurnCount
from audit.record.days import (
    find_day,
    find_next_day,
    find_next_hour,
    find_next_month,
    floor_hour,
    list_starts,
)
from audit.record.outcomes import FormOutcome
from audit.reports.count_batch import find_oldest_hour
from convengine.engine.turn.enums import TurnStatus

#: No kind of the table: the turns by intent, in the numbers of a release.
INTENT = "INTENT"
#: What became of forms, by kind of count.
FORM_OUTCOMES = {outcome: f"{CeTurnCount.FORM_OUTCOME}{outcome}" for outcome in FormOutcome}
_ZERO = Decimal(0)
#: Up to this length a report goes by hour.
_BY_HOUR = timedelta(days=2)
#: Up to this length by day, beyond by month.
_BY_DAY = timedelta(days=100)


class PeriodUnit(StrEnum):
    """The time of a period of a report."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_FIND_NEXT = {PeriodUnit.HOUR: find_next_hour, PeriodUnit.DAY: find_next_day, PeriodUnit.MONTH: find_next_month}


@dataclass(frozen=True)
class ReportSelection:
    """What a report is about; blank fields match everything."""

    since: datetime
    #: Not included.
    until: datetime
    workspace: str = ""
    channel: str = ""
    intent: str = ""
    release: int | None = None

    def select_counts(self, *, is_by_hour: bool = False) -> QuerySet[CeTurnCount]:
        """The counts of these turns: of whole days, and by hour of the hours before and after them; or all by hour."""
        first, last = (self.until, self.until) if is_by_hour else self._find_whole_days()
        days = Q(is_hour=False, hour__gte=first, hour__lt=last)
        hours = Q(is_hour=True, hour__gte=self.since, hour__lt=min(first, self.until))
        hours |= Q(is_hour=True, hour__gte=max(last, self.since), hour__lt=self.until)
        # The first condition bounds the index for both.
        counts = CeTurnCount.objects.filter(Q(hour__gte=min(first, self.since), hour__lt=self.until), days | hours)
        wanted = {"workspace_id": self.workspace, "channel": self.channel, "intent_code": self.intent}
        counts = counts.filter(**{name: value for name, value in wanted.items() if value})
        return counts if self.release is None else counts.filter(config_version=self.release)

    def search_url(self, **filters: str) -> str:
        """The address of the search that lists its turns; `filters` limit them, and replace those of the selection."""
        wanted = {
            "workspace": self.workspace,
            "intent": self.intent,
            "channel": self.channel,
            "release": "" if self.release is None else str(self.release),
            **filters,
            "since": self.since.isoformat(),
            # The search includes its end.
            "until": (self.until - timedelta(microseconds=1)).isoformat(),
        }
        given = urlencode({name: value for name, value in wanted.items() if value})
        return f"{reverse('admin:audit_ceaudit_find')}?{given}"

    def _find_whole_days(self) -> tuple[datetime, datetime]:
        """The first whole day, and the end of the last one. Where hours are no longer kept, days that are cut count."""
        zone, oldest = timezone.get_current_timezone(), find_oldest_hour()
        first = find_day(self.since, zone)
        if self.since > first and self.since >= oldest:
            first = find_next_day(self.since, zone)
        # No turn is later than now, so that today is whole. `until` may come from the clock of the database, and an
        # hour may begin after it was chosen.
        is_whole = self.until >= floor_hour(timezone.now()) or self.until < oldest
        last = self.until if is_whole else find_day(self.until, zone)
        return (first, last) if first < last else (self.until, self.until)

    @property
    def unit(self) -> PeriodUnit:
        """What its periods are: hours, days or months, by its length. Where hours are no longer kept, at least days."""
        length = self.until - self.since
        return (
            PeriodUnit.HOUR
            if length <= _BY_HOUR and self.since >= find_oldest_hour()
            else PeriodUnit.DAY
            if length <= _BY_DAY
            else PeriodUnit.MONTH
        )


@dataclass
class Totals:
    """The counts of a group of turns, from which measures are computed."""

    #: Turns by kind and value, and amounts by kind.
    values: Counter[tuple[str, str]] = field(default_factory=Counter)
    amounts: dict[str, Decimal] = field(default_factory=dict)

    def add(self, kind: str, value: str, turns: int, amount: Decimal = _ZERO) -> None:
        self.values[kind, value] += turns
        self.amounts[kind] = self.read_amount(kind) + amount

    def count(self, kind: str, value: str | None = None) -> int:
        if value is not None:
            return self.values[kind, value]
        return sum(turns for (of_kind, _), turns in self.values.items() if of_kind == kind)

    def read_amount(self, kind: str) -> Decimal:
        """The milliseconds or the cost of a kind."""
        return self.amounts.get(kind, _ZERO)

    @property
    def turns(self) -> int:
        return self.count(CeTurnCount.TURN)

    @property
    def conversations(self) -> int:
        return self.count(CeTurnCount.BEGUN)

    @property
    def durations(self) -> Counter[int]:
        """How many took how long, by the first millisecond of their range."""
        times = {int(value): turns for (kind, value), turns in self.values.items() if kind == CeTurnCount.TIME}
        return Counter(times)

    def __add__(self, other: Self) -> Self:
        amounts = {kind: self.read_amount(kind) + other.read_amount(kind) for kind in {*self.amounts, *other.amounts}}
        return type(self)(self.values + other.values, amounts)

    def __sub__(self, other: Self) -> Self:
        amounts = {kind: self.read_amount(kind) - other.read_amount(kind) for kind in self.amounts}
        return type(self)(self.values - other.values, amounts)


@dataclass(frozen=True)
class Period:
    """An hour, a day or a month of a report."""

    since: datetime
    #: Not included.
    until: datetime
    totals: Totals


@dataclass(frozen=True)
class TurnGroup:
    """The turns with one intent, state, error or release."""

    name: str
    totals: Totals


@dataclass(frozen=True)
class Dimension:
    """What groups of turns, or of calls, have in common."""

    #: As files, API and command call it.
    name: str
    #: What one of them is, and several are.
    noun: str
    label: str
    #: The column of the counts. For the column `value`, `kinds` names the kinds of counts.
    column: str = "value"
    #: The kinds of counts by value, and as which kind and value of all turns they count.
    kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict, hash=False)
    #: The names of the measures that its groups have; empty if they have all.
    measures: frozenset[str] = frozenset()

    def translate(self, kind: str, value: str) -> tuple[str, str, str]:
        """The group of a count, and as which kind and value it counts there. A duration is the end of its value."""
        counted_kind, counted_value = self.kinds[kind]
        if counted_kind != CeTurnCount.TIME:
            return value, counted_kind, counted_value
        name, _, duration = value.rpartition(":")
        return name, counted_kind, duration


@dataclass(frozen=True)
class Report:
    selection: ReportSelection
    periods: Sequence[Period]
    #: The groups of each dimension.
    groups: Mapping[Dimension, Sequence[TurnGroup]] = field(default_factory=dict)

    @property
    def totals(self) -> Totals:
        return sum((period.totals for period in self.periods), Totals())


def build_report(
    selection: ReportSelection, dimensions: Iterable[Dimension] = (), *, has_durations: bool = False
) -> Report:
    """Read the counts of a selection: one query, and one for each dimension."""
    unit = selection.unit
    starts = list_starts(selection.since, selection.until, timezone.get_current_timezone(), _FIND_NEXT[unit])
    totals = [Totals() for _ in starts]
    counts = selection.select_counts(is_by_hour=unit == PeriodUnit.HOUR)
    for hour, kind, value, turns, amount in _sum_by(counts, "hour", has_durations=has_durations):
        totals[bisect_right(starts, hour) - 1].add(kind, value, turns, amount)
    periods = [Period(*each) for each in zip(starts, [*starts[1:], selection.until], totals, strict=True)]
    groups = {dimension: list_groups(selection, dimension, has_durations=has_durations) for dimension in dimensions}
    return Report(selection, periods, groups)


def read_totals(selection: ReportSelection, *, has_durations: bool = False) -> Totals:
    """The numbers of all turns of a selection; with `has_durations`, also how long they took."""
    totals = Totals()
    for kind, value, turns, amount in _sum_by(selection.select_counts(), has_durations=has_durations):
        totals.add(kind, value, turns, amount)
    return totals


def read_releases(selection: ReportSelection) -> list[tuple[int, Totals]]:
    """The numbers of each release with turns, also by INTENT and STATE, in the order of the releases. One query."""
    totals: dict[int, Totals] = defaultdict(Totals)
    counts = _sum_kinds(selection.select_counts(), (*_KINDS, CeTurnCount.STATE), "config_version", "intent_code")
    for number, intent, kind, value, turns, amount in counts:
        totals[number].add(kind, value, turns, amount)
        if kind == CeTurnCount.TURN:
            totals[number].add(INTENT, intent, turns)
    return sorted((number, of_release) for number, of_release in totals.items() if of_release.turns)


def read_hours(selection: ReportSelection, *, has_durations: bool = False) -> dict[datetime, Totals]:
    """The numbers of each hour with counts, as far as counts by hour are kept; with `has_durations`, also times."""
    totals: dict[datetime, Totals] = defaultdict(Totals)
    counts = selection.select_counts(is_by_hour=True)
    for hour, kind, value, turns, amount in _sum_by(counts, "hour", has_durations=has_durations):
        totals[hour].add(kind, value, turns, amount)
    return totals


def choose_dates(first: date, last: date, now: datetime) -> tuple[datetime, datetime]:
    """The time from `first` to `last` in whole days of the deployment's zone, at most to the end of this hour.

    At least an hour, so `first` must not be after today; a `last` before it counts as the same day.
    """
    zone = timezone.get_current_timezone()
    since, end = (
        floor_hour(datetime.combine(day, time(), zone)) for day in (first, max(first, last) + timedelta(days=1))
    )
    return since, max(min(end, floor_hour(now) + timedelta(hours=1)), since + timedelta(hours=1))


def list_groups(selection: ReportSelection, dimension: Dimension, *, has_durations: bool = False) -> list[TurnGroup]:
    """The groups of a dimension, most turns first. One query.

    `has_durations` counts only for a dimension that is a column; others have the kinds that they declare.
    """
    totals: dict[str, Totals] = defaultdict(Totals)
    counts, whole = selection.select_counts(), 0
    if dimension.column != "value":
        for name, kind, value, turns, amount in _sum_by(counts, dimension.column, has_durations=has_durations):
            totals[str(name)].add(kind, value, turns, amount)
    else:
        for kind, value, turns, amount in _sum_kinds(counts, dimension.kinds):
            name, counted_kind, counted_value = dimension.translate(kind, value)
            if name:
                totals[name].add(counted_kind, counted_value, turns, amount)
            else:
                whole += turns
    for of_value in totals.values() if whole else ():
        # What is counted from a millisecond on took less in all other turns.
        of_value.add(CeTurnCount.TURN, TurnStatus.OK.value, whole)
        of_value.add(CeTurnCount.TIME, "0", whole - of_value.count(CeTurnCount.TIME))
    return [TurnGroup(*each) for each in sorted(totals.items(), key=lambda item: (-item[1].turns, item[0]))]


def read_days(kinds: Iterable[str], names: Iterable[str]) -> dict[str, tuple[datetime, datetime]]:
    """The days on which some values were first and last counted, whatever a report is about. One query."""
    counts = CeTurnCount.objects.filter(kind__in=list(kinds), is_hour=False, value__in=list(names), turns__gt=0)
    days = counts.order_by().values_list("value").annotate(first=Min("hour"), last=Max("hour"))
    return {name: (first, last) for name, first, last in days}


def sum_values(selection: ReportSelection, wanted: Q, *columns: str) -> dict[tuple[Any, ...], int]:
    """The turns of some counts by columns, without those that are zero. One query."""
    sums = selection.select_counts().filter(wanted).order_by().values_list(*columns).annotate(sum=Sum("turns"))
    return {tuple(key): turns for *key, turns in sums if turns}


#: The counts that measures read, besides durations, which have many values: only reports that show them read them.
_KINDS = (
    *(CeTurnCount.TURN, CeTurnCount.BEGUN, CeTurnCount.OUTCOME, CeTurnCount.STAGE, CeTurnCount.TASK_FAILED),
    *(CeTurnCount.MODEL_CALLS, CeTurnCount.MODEL_FAILED, CeTurnCount.MODEL_ERROR, CeTurnCount.FEEDBACK),
    *FORM_OUTCOMES.values(),
)


def _sum_by(counts: QuerySet[CeTurnCount], *columns: str, has_durations: bool = False) -> Iterator[tuple[Any, ...]]:
    """The columns, kind, value, turns and amount of what measures read."""
    return _sum_kinds(counts, (*_KINDS, CeTurnCount.TIME) if has_durations else _KINDS, *columns)


def _sum_kinds(counts: QuerySet[CeTurnCount], kinds: Iterable[str], *columns: str) -> Iterator[tuple[Any, ...]]:
    """The columns, kind, value, turns and amount of some kinds."""
    rows = counts.filter(kind__in=list(kinds)).order_by().values_list(*columns, "kind", "value")
    yield from rows.annotate(sum_turns=Sum("turns"), sum_amount=Sum("amount"))
