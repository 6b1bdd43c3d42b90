"""What a rule says about the counts at a moment, and in the past."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from operator import add

from audit.models import CeAlertRule, CeCountProgress
from audit.record.days import floor_hour
from audit.reports.measures import MEASURES, Measure, MeasureUnit
from audit.reports.report import ReportSelection, Totals, read_hours, read_totals
from convengine.engine.turn.labels import join_unit

_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class MeasuredValue:
    """The value of a rule at a moment."""

    since: datetime
    until: datetime
    turns: int
    #: None for a share or a mean of nothing.
    value: Decimal | None
    #: Enough turns, or conversations, for a share or a mean.
    is_enough: bool


@dataclass(frozen=True)
class Episode:
    """A time in which a rule would have fired, by full hours."""

    since: datetime
    #: None if it still would.
    until: datetime | None
    worst: Decimal


@dataclass(frozen=True)
class AlertSimulation:
    days: int
    episodes: Sequence[Episode]
    #: The most extreme value with enough turns; None if no hour had enough.
    extreme: Decimal | None


def read_counted_until() -> datetime | None:
    """When turns were counted last; null before the first count."""
    return CeCountProgress.objects.order_by("pk").values_list("seen_at", flat=True).first()


def read_rule(rule: CeAlertRule, at: datetime) -> MeasuredValue:
    """The value at a moment. Its time begins with a full hour, so it is up to an hour longer than the rule says."""
    since = floor_hour(at - timedelta(hours=rule.hours))
    totals = read_totals(_select(rule, since, at), has_durations=find_measure(rule.measure).needs_durations)
    return _read_totals(rule, since, at, totals)


def does_fire(rule: CeAlertRule, reading: MeasuredValue) -> bool:
    """Whether the value is beyond the limit, with enough turns."""
    if reading.value is None or not reading.is_enough:
        return False
    if rule.direction == CeAlertRule.Direction.OVER:
        return reading.value > rule.bound
    return reading.value < rule.bound


def simulate_rule(rule: CeAlertRule, days: int, now: datetime) -> AlertSimulation:
    """When the rule would have fired in the last days, looking at each full hour. One query."""
    last = floor_hour(now)
    pick = max if rule.direction == CeAlertRule.Direction.OVER else min
    extreme: Decimal | None = None
    episodes: list[Episode] = []
    is_firing = False
    for reading in _read_past(rule, last - timedelta(days=days), last):
        if reading.value is not None and reading.is_enough:
            extreme = reading.value if extreme is None else pick(extreme, reading.value)
        fires = does_fire(rule, reading)
        if is_firing:
            current = episodes[-1]
            worst = pick(current.worst, reading.value) if fires and reading.value is not None else current.worst
            episodes[-1] = replace(current, worst=worst, until=None if fires else reading.until)
        elif fires and reading.value is not None:
            episodes.append(Episode(reading.until, None, reading.value))
        is_firing = fires
    return AlertSimulation(days, episodes, extreme)


def _read_past(rule: CeAlertRule, first: datetime, last: datetime) -> Iterator[MeasuredValue]:
    """The value at each full hour after `first`, up to `last`."""
    start = first - timedelta(hours=rule.hours)
    by_hour = read_hours(_select(rule, start, last), has_durations=find_measure(rule.measure).needs_durations)
    hours = [start + _HOUR * number for number in range(int((last - start) / _HOUR) + 1)]
    sums = list(accumulate((by_hour.get(hour, Totals()) for hour in hours[:-1]), add, initial=Totals()))
    for end in range(rule.hours + 1, len(hours)):
        begin = end - rule.hours
        yield _read_totals(rule, hours[begin], hours[end], sums[end] - sums[begin])


def _read_totals(rule: CeAlertRule, since: datetime, until: datetime, totals: Totals) -> MeasuredValue:
    measure = find_measure(rule.measure)
    value = _read_exact_share(measure, totals) if measure.is_share else measure.read_value(totals)
    is_enough = measure.base is None or measure.base.count(totals) >= rule.fewest
    return MeasuredValue(
        since, until, totals.turns, None if value is None else round(Decimal(str(value)), 3), is_enough
    )


def _read_exact_share(measure: Measure, totals: Totals) -> Decimal | None:
    """As exact as a limit: one failure of 10,000 turns is over 0 %."""
    part, whole = measure.read_part(totals)
    return Decimal(100 * part) / whole if whole else None


def _select(rule: CeAlertRule, since: datetime, until: datetime) -> ReportSelection:
    return ReportSelection(since, until, rule.workspace_id, rule.channel, rule.intent_code, rule.config_version)


def describe_rule(rule: CeAlertRule) -> str:
    """The rule as a sentence: `Not understood over 15 % for an hour, with at least 30 turns`."""
    measure = find_measure(rule.measure)
    limit, window = format_limit(measure, rule.bound), CeAlertRule.Window(rule.hours).label
    parts = [f"{measure.label} {rule.direction.lower()} {limit} for {window}"]
    if measure.base is not None and rule.fewest:
        parts.append(f"with at least {rule.fewest} {name_base(measure)}")
    parts += [f"{name} {value}" for name, value in _list_filters(rule)]
    parts += [] if rule.workspace_id else ["all workspaces"]
    return ", ".join(parts)


def find_measure(name: str) -> Measure:
    """The measure of a rule; a stand-in for one that no longer exists."""
    return MEASURES.get(name) or Measure(name, name, "", MeasureUnit.CALLS, lambda totals: 0)


def name_base(measure: Measure) -> str:
    """What a share or a mean is taken of, such as turns or conversations begun."""
    return measure.base_label or "turns"


def format_value(measure: Measure, value: Decimal) -> str:
    """Such as `14.3 %` or `1,200 ms`."""
    return format_limit(measure, round(value, 1) if measure.is_share else value)


def format_limit(measure: Measure, limit: Decimal) -> str:
    """A limit with all its digits, such as `12.25 %`."""
    text = f"{limit:,.3f}".rstrip("0").rstrip(".")
    unit = "%" if measure.is_share else "ms" if measure.unit == MeasureUnit.MILLISECONDS else ""
    return join_unit(text, unit)


def _list_filters(rule: CeAlertRule) -> Iterator[tuple[str, str]]:
    if rule.workspace_id not in ("", "default"):
        yield "workspace", rule.workspace_id
    if rule.channel:
        yield "channel", rule.channel
    if rule.intent_code:
        yield "intent", rule.intent_code
    if rule.config_version is not None:
        yield "release", str(rule.config_version)


def build_search(rule: CeAlertRule, reading: MeasuredValue) -> dict[str, str] | None:
    """The filters of the search that lists the counted turns. Returns None if no search lists them.

    A search lists the turns of all workspaces, so there is none for a part of them.
    """
    measure = find_measure(rule.measure)
    if measure.search is None:
        return None
    counts = ReportSelection(reading.since, reading.until).select_counts()
    if rule.workspace_id and counts.exclude(workspace_id=rule.workspace_id).exists():
        return None
    filters = {name: value for name, value in _list_filters(rule) if name != "workspace"}
    # The search includes its end.
    until = reading.until - timedelta(microseconds=1)
    return {**filters, **measure.search, "since": reading.since.isoformat(), "until": until.isoformat()}
