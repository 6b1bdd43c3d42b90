"""A report: the counts of a period, by hour, day or month, and by what the turns had in common."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Any, Self

from django.db.models import IntegerField, Max, Min, Q, QuerySet, Sum, Value
from django.utils import timezone

from audit.models import CeMcpUserFeedback, CeTurnCount, CeTurnDayCount
from audit.record.form_steps import FormStep
from audit.reports.days import (
    find_day,
    find_next_day,
    find_next_hour,
    find_next_month,
    floor_hour,
    list_starts,
)
from convengine.engine.steps.responses.stages import NOT_UNDERSTOOD
from convengine.engine.turn.enums import TurnStatus

#: Up to this length a report goes by hour.
_BY_HOUR = timedelta(days=2)
#: Up to this length by day, beyond by month.
_BY_DAY = timedelta(days=100)


class Unit(StrEnum):
    """The time of a period of a report."""

    HOUR = "hour"
    DAY = "day"
    MONTH = "month"


_FIND_NEXT = {Unit.HOUR: find_next_hour, Unit.DAY: find_next_day, Unit.MONTH: find_next_month}


@dataclass(frozen=True)
class Selection:
    """What a report is about; blank fields match everything."""

    since: datetime
    #: Not included.
    until: datetime
    workspace: str = ""
    channel: str = ""
    intent: str = ""
    release: int | None = None

    @property
    def counts(self) -> QuerySet[CeTurnCount]:
        """The counts of these turns by hour."""
        return self._filter(CeTurnCount.objects.all(), self.since, self.until)

    def split(self, zone: tzinfo) -> list[QuerySet[Any]]:
        """The counts of the whole days, and those of the hours before and after them."""
        first = self.since if find_day(self.since, zone) == self.since else find_next_day(self.since, zone)
        # No turn is later than now, so that the counts of today are those of its hours. `until` may come from the clock
        # of the database, and an hour may begin after it was chosen.
        last = self.until if self.until >= floor_hour(timezone.now()) else find_day(self.until, zone)
        if first >= last:
            return [self.counts]
        days = self._filter(CeTurnDayCount.objects.all(), first, last)
        rest = ((self.since, first), (last, self.until))
        return [days, *(self._filter(CeTurnCount.objects.all(), *each) for each in rest if each[0] < each[1])]

    def _filter(self, counts: QuerySet[Any], since: datetime, until: datetime) -> QuerySet[Any]:
        wanted: dict[str, Any] = {"hour__gte": since, "hour__lt": until}
        names = {"workspace_id": self.workspace, "channel": self.channel, "intent_code": self.intent}
        wanted |= {name: value for name, value in names.items() if value}
        if self.release is not None:
            wanted["config_version"] = self.release
        return counts.filter(**wanted)

    @property
    def unit(self) -> Unit:
        """The times of its periods."""
        length = self.until - self.since
        return Unit.HOUR if length <= _BY_HOUR else Unit.DAY if length <= _BY_DAY else Unit.MONTH


@dataclass
class Totals:
    """The numbers of a group of turns."""

    turns: int = 0
    conversations: int = 0
    not_understood: int = 0
    handed_over: int = 0
    failed: int = 0
    milliseconds: Decimal = Decimal(0)
    model_calls: int = 0
    cost: Decimal = Decimal(0)
    model_failures: int = 0
    forms_started: int = 0
    forms_completed: int = 0
    positive: int = 0
    negative: int = 0
    failed_calls: int = 0
    #: How many took how long, by the first millisecond of their range.
    durations: Counter[int] = field(default_factory=Counter)
    #: In the numbers of a release: the turns of each intent, and the conversations that began with it.
    intents: Counter[str] = field(default_factory=Counter)
    openings: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, value: str, turns: int, amount: Decimal) -> None:
        """Add a count."""
        if kind == CeTurnCount.TURN:
            self.turns += turns
            self.milliseconds += amount
            self.failed += turns if value == TurnStatus.FAILED.value else 0
        elif kind == CeTurnCount.BEGUN:
            self.conversations += turns
        elif kind == CeTurnCount.MODEL_CALLS:
            self.model_calls += turns
            self.cost += amount
        elif (kind, value) == (CeTurnCount.STAGE, str(NOT_UNDERSTOOD)):
            self.not_understood += turns
        elif kind == CeTurnCount.HANDED_OVER:
            self.handed_over += turns
        elif kind == CeTurnCount.MODEL_FAILED:
            self.model_failures += turns
        elif kind == _FORM_STARTED:
            self.forms_started += turns
        elif kind == _FORM_COMPLETED:
            self.forms_completed += turns
        elif (kind, value) == (CeTurnCount.FEEDBACK, CeMcpUserFeedback.Type.THUMBS_UP):
            self.positive += turns
        elif kind == CeTurnCount.FEEDBACK:
            self.negative += turns
        elif kind == CeTurnCount.MODEL_ERROR:
            self.failed_calls += turns
        elif kind == CeTurnCount.TIME:
            self.durations[int(value)] += turns
            self.milliseconds += amount

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


@dataclass(frozen=True)
class Period:
    """An hour, a day or a month of a report."""

    since: datetime
    #: Not included.
    until: datetime
    totals: Totals


@dataclass(frozen=True)
class Group:
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

    def select(self, *, has_durations: bool) -> Q:
        """The counts to add up."""
        return _choose_kinds(has_durations) if self.column != "value" else Q(kind__in=self.kinds)

    @property
    def columns(self) -> tuple[str, ...]:
        """What they are added up by."""
        return ("kind", "value") if self.column == "value" else (self.column, "kind", "value")

    def translate(self, kind: str, value: str) -> tuple[str, str, str]:
        """The group of a count, and as which kind and value it counts there. A duration is the end of its value."""
        counted_kind, counted_value = self.kinds[kind]
        if counted_kind != CeTurnCount.TIME:
            return value, counted_kind, counted_value
        name, _, duration = value.rpartition(":")
        return name, counted_kind, duration


@dataclass(frozen=True)
class Report:
    """The counts of a selection."""

    selection: Selection
    periods: Sequence[Period]
    #: The groups of each dimension.
    groups: Mapping[Dimension, Sequence[Group]] = field(default_factory=dict)

    @property
    def totals(self) -> Totals:
        """Of the whole selection."""
        return sum((period.totals for period in self.periods), Totals())


def build_report(
    selection: Selection,
    zone: tzinfo | None = None,
    dimensions: Iterable[Dimension] = (),
    *,
    has_durations: bool = False,
) -> Report:
    """Read the counts of a selection: one query, and one for each dimension. Days are those of the zone, by default of
    the deployment.
    """
    periods = _build_periods(selection, zone or timezone.get_current_timezone(), has_durations=has_durations)
    groups = {dimension: list_groups(selection, dimension, has_durations=has_durations) for dimension in dimensions}
    return Report(selection, periods, groups)


def read_totals(selection: Selection, *, has_durations: bool = False) -> Totals:
    """The numbers of all its turns."""
    totals = Totals()
    for (kind, value), (turns, amount) in _sum_by(selection, "kind", "value", wanted=_choose_kinds(has_durations)):
        totals.add(kind, value, turns, amount)
    return totals


def read_releases(selection: Selection) -> list[tuple[int, Totals]]:
    """The numbers of each release, in the order of the releases. One query."""
    return read_releases_of(selection)[0]


def read_releases_of(*selections: Selection) -> list[list[tuple[int, Totals]]]:
    """The numbers of each release, for each selection. One query."""
    zone = timezone.get_current_timezone()
    parts = [
        counts.annotate(index=Value(index, output_field=IntegerField()))
        for index, selection in enumerate(selections)
        for counts in selection.split(zone)
    ]
    totals: list[dict[int, Totals]] = [defaultdict(Totals) for _ in selections]
    columns = ("index", "config_version", "intent_code", "kind", "value")
    for (index, number, intent, kind, value), (turns, amount) in _sum_by(selections[0], *columns, parts=parts):
        of_release = totals[index][number]
        of_release.add(kind, value, turns, amount)
        if kind == CeTurnCount.TURN:
            of_release.intents[intent] += turns
        elif kind == CeTurnCount.BEGUN:
            of_release.openings[intent] += turns
    return [sorted(each.items()) for each in totals]


def read_hours(selection: Selection, *, has_durations: bool = False) -> dict[datetime, Totals]:
    """The numbers of each hour with counts."""
    totals: dict[datetime, Totals] = defaultdict(Totals)
    wanted, parts = _choose_kinds(has_durations), [selection.counts]
    for (hour, kind, value), (turns, amount) in _sum_by(selection, "hour", "kind", "value", wanted=wanted, parts=parts):
        totals[hour].add(kind, value, turns, amount)
    return totals


def choose_days(days: int, now: datetime, zone: tzinfo | None = None) -> tuple[datetime, datetime]:
    """The last days up to the end of this hour, from the midnight that begins the first of them."""
    zone = zone or timezone.get_current_timezone()
    first = (now.astimezone(zone) - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return floor_hour(first), floor_hour(now) + timedelta(hours=1)


def choose_dates(first: date, last: date, now: datetime) -> tuple[datetime, datetime]:
    """Whole days of the deployment's zone, up to the end of this hour at most; the first one is not after it."""
    zone = timezone.get_current_timezone()
    since, end = (
        floor_hour(datetime.combine(day, time(), zone)) for day in (first, max(first, last) + timedelta(days=1))
    )
    return since, max(min(end, floor_hour(now) + timedelta(hours=1)), since + timedelta(hours=1))


def _build_periods(selection: Selection, zone: tzinfo, *, has_durations: bool) -> list[Period]:
    """Every hour, day or month of the selection, also those without turns."""
    unit = selection.unit
    starts = list_starts(selection.since, selection.until, zone, _FIND_NEXT[unit])
    totals = [Totals() for _ in starts]
    # Counts of days are those of the deployment's zone.
    has_days = unit != Unit.HOUR and zone == timezone.get_current_timezone()
    parts = selection.split(zone) if has_days else [selection.counts]
    wanted = _choose_kinds(has_durations)
    for (hour, kind, value), (turns, amount) in _sum_by(selection, "hour", "kind", "value", wanted=wanted, parts=parts):
        totals[bisect_right(starts, hour) - 1].add(kind, value, turns, amount)
    return [Period(*each) for each in zip(starts, [*starts[1:], selection.until], totals, strict=True)]


def list_groups(selection: Selection, dimension: Dimension, *, has_durations: bool = False) -> list[Group]:
    """The groups of a dimension, most turns first. One query."""
    totals: dict[str, Totals] = defaultdict(Totals)
    sums = _sum_by(selection, *dimension.columns, wanted=dimension.select(has_durations=has_durations))
    whole = 0
    for (*group, kind, value), (turns, amount) in sums:
        name, counted_kind, counted_value = (str(group[0]), kind, value) if group else dimension.translate(kind, value)
        if name or dimension.column != "value":
            totals[name].add(counted_kind, counted_value, turns, amount)
        else:
            whole += turns
    for of_value in totals.values() if whole else ():
        # What is counted from a millisecond on took less in all other turns.
        of_value.turns = whole
        of_value.durations[0] += whole - of_value.durations.total()
    return [Group(*each) for each in sorted(totals.items(), key=lambda item: (-item[1].turns, item[0]))]


def read_error_hours(codes: Sequence[str]) -> dict[str, tuple[datetime, datetime]]:
    """The hours in which each error was first and last counted, also outside of a report's period. One query."""
    errors = CeTurnCount.objects.filter(kind=CeTurnCount.ERROR, value__in=codes, turns__gt=0).order_by()
    hours = errors.values("value").annotate(first=Min("hour"), last=Max("hour"))
    return {row["value"]: (row["first"], row["last"]) for row in hours}


def read_values_of(selection: Selection, wanted: Q, *columns: str) -> dict[tuple[Any, ...], int]:
    """The turns of some counts by columns, without those that are zero."""
    sums: Counter[tuple[Any, ...]] = Counter()
    for key, (turns, _) in _sum_by(selection, *columns, wanted=wanted):
        sums[key] += turns
    return dict(+sums)


_FORM_STARTED, _FORM_COMPLETED = (f"{CeTurnCount.FORM}{step}" for step in (FormStep.STARTED, FormStep.COMPLETED))
#: The counts that `Totals` has, besides those of deciding rows, states and other stages.
_KINDS = (
    *(CeTurnCount.TURN, CeTurnCount.BEGUN, CeTurnCount.HANDED_OVER, CeTurnCount.MODEL_CALLS, CeTurnCount.MODEL_FAILED),
    *(_FORM_STARTED, _FORM_COMPLETED, CeTurnCount.FEEDBACK, CeTurnCount.MODEL_ERROR, CeTurnCount.STAGE),
)
_WANTED = Q(kind__in=_KINDS)
#: Durations have many values: only reports that show them read them.
_WANTED_WITH_DURATIONS = Q(kind__in=(*_KINDS, CeTurnCount.TIME))


def _choose_kinds(has_durations: bool) -> Q:
    return _WANTED_WITH_DURATIONS if has_durations else _WANTED


def _sum_by(
    selection: Selection, *columns: str, wanted: Q = _WANTED, parts: Sequence[QuerySet[Any]] | None = None
) -> Iterator[tuple[tuple[Any, ...], tuple[int, Decimal]]]:
    """The sums of turns and amounts by some columns; of a key several if days and hours have it. One query."""
    sums = [
        counts.filter(wanted)
        .order_by()
        .values_list(*columns)
        .annotate(sum_turns=Sum("turns"), sum_amount=Sum("amount"))
        for counts in parts or selection.split(timezone.get_current_timezone())
    ]
    for *key, turns, amount in sums[0].union(*sums[1:], all=True) if len(sums) > 1 else sums[0]:
        yield tuple(key), (turns, amount)
