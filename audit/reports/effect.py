"""The effect of a release: the rates of the turns on it, beside those on the releases before it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from django.urls import reverse

from audit.record.days import floor_hour
from audit.reports.cause import find_bad_turns, find_moved_turns
from audit.reports.measures import FAILED, FORMS_COMPLETED, HANDED_OVER, NOT_UNDERSTOOD_TURNS, TASK_FAILED, Measure
from audit.reports.proportion import FEWEST_TURNS, Proportion, count_standard_errors, judge_change
from audit.reports.report import INTENT, ReportSelection, Totals, read_releases
from convengine.engine.cached_property import cached_property
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.release_history import ReleaseNote
from convengine.server.interfaces.turn_reports import IntentShift, RateChange, RateVerdict, ReleaseEffect

#: The shares that are watched.
RATES = (NOT_UNDERSTOOD_TURNS, HANDED_OVER, FORMS_COMPLETED, TASK_FAILED, FAILED)
#: Turns that are so much older than the release are not compared, nor those that are so much later.
WINDOW = timedelta(days=30)
#: How many intents and states are listed, and from how many standard errors on.
MOST_MOVED, _MOVED = 8, 2.0
#: How many releases are checked for having made a rate worse.
_MOST_CHECKED = 3
#: Home names a release from this many standard errors: many intents and releases are compared, and the turns of a
#: conversation are not independent of each other.
_SHIFTED = 5.0


class ReleaseGroup(NamedTuple):
    """Releases that are judged together, because those before the last had too few turns."""

    first: int
    last: int
    totals: Totals

    @property
    def name(self) -> str:
        """Such as `release 12` or `releases 9 to 12`."""
        return f"release {self.last}" if self.first == self.last else f"releases {self.first} to {self.last}"


class RateEffect(NamedTuple):
    measure: Measure
    before: Proportion
    after: Proportion
    verdict: RateVerdict
    #: What the same messages do before and after the release; blank for a rate that is not worse.
    cause: str = ""


class MovedShare(NamedTuple):
    """An intent or a state with its share of the turns, before and after."""

    name: str
    before: Proportion
    after: Proportion

    @property
    def errors(self) -> float:
        """How many standard errors the share rose."""
        return count_standard_errors(self.after, self.before)

    @property
    def is_clear(self) -> bool:
        """True if chance does not explain the change, nor too few turns."""
        return judge_change(self.after, self.before) in (RateVerdict.WORSE, RateVerdict.BETTER)


@dataclass(frozen=True)
class ReleaseComparison:
    """The turns of some releases, beside those of the releases before them."""

    after: ReleaseGroup
    #: None if there were none.
    before: ReleaseGroup | None
    #: True if `after` has the turns of all later releases, too.
    is_open: bool = False
    #: True if both sides had the same users at the same time: what differs is the release.
    is_gradual: bool = False

    @cached_property
    def rates(self) -> list[RateEffect]:
        """Each watched rate with its judgement, in the order of RATES."""
        return [self.judge(measure) for measure in RATES]

    def judge(self, measure: Measure) -> RateEffect:
        """Whether the release made a rate worse or better; of a worse one with what the same messages do.

        Of a gradual release both sides had the same users, so a worse rate needs no such proof.
        """
        before, after = (Proportion(*measure.read_part(totals)) for totals in self.sides)
        verdict = judge_rate(measure, after, before)
        if self.is_gradual or verdict not in (RateVerdict.WORSE, RateVerdict.MAYBE_WORSE):
            return RateEffect(measure, before, after, verdict)
        evidence = find_bad_turns(measure, self.after.first, self.after.last, is_open=self.is_open)
        if not evidence.is_known:
            verdict = RateVerdict.CAUSE_UNKNOWN
        elif not evidence.explains(_find_excess(measure, after, before)):
            verdict = RateVerdict.NOT_CAUSED
        return RateEffect(measure, before, after, verdict, evidence.describe(self.after.name))

    def list_moved(self, kind: str) -> list[MovedShare]:
        """The intents or states (INTENT, STATE) whose share of the turns changed most, at most MOST_MOVED.

        Empty without earlier turns.
        """
        before, after = self.sides
        if self.before is None:
            return []
        names = {value for of_kind, value in (*before.values, *after.values) if of_kind == kind}
        shares = [
            MovedShare(name, *(Proportion(totals.count(kind, name), totals.turns) for totals in self.sides))
            for name in sorted(names)
        ]
        moved = [share for share in shares if abs(share.errors) > _MOVED]
        return sorted(moved, key=lambda share: -abs(share.errors))[:MOST_MOVED]

    @property
    def sides(self) -> tuple[Totals, Totals]:
        return self.before.totals if self.before else Totals(), self.after.totals


def group_releases(releases: Iterable[tuple[int, Totals]]) -> list[ReleaseGroup]:
    """Releases with their turns, in order. Those with too few turns are taken together with the next ones.

    The last group may have too few.
    """
    groups: list[ReleaseGroup] = []
    first: int | None = None
    totals, number = Totals(), 0
    for number, of_release in releases:
        if first is None:
            first = groups[-1].last + 1 if groups else number
        totals += of_release
        if totals.turns >= FEWEST_TURNS:
            groups.append(ReleaseGroup(first, number, totals))
            first, totals = None, Totals()
    if first is not None and totals.turns:
        groups.append(ReleaseGroup(first, number, totals))
    return groups


def choose_period(release: ReleaseNote) -> ReportSelection:
    """The time before and after a release, or in which it was gradual."""
    if release.gradual:
        return ReportSelection(
            floor_hour(release.gradual.began), _ceil_hour(release.gradual.ended or release.at + WINDOW)
        )
    return ReportSelection(floor_hour(release.at - WINDOW), _ceil_hour(release.at + WINDOW))


def compare_release(release: ReleaseNote) -> ReleaseComparison | None:
    """The turns of a release and of those before it, or of both sides of a gradual one. Returns None if it had none.

    Releases with too few turns are compared together with others.
    """
    releases = read_releases(choose_period(release))
    if release.gradual:
        parent = release.gradual.parent_version
        after = _join_releases(each for each in releases if each[0] == release.number)
        before = _join_releases(each for each in releases if each[0] <= parent)
        return ReleaseComparison(after, before, is_gradual=True) if after else None
    groups = group_releases(releases)
    index = next((index for index, group in enumerate(groups) if group.first <= release.number <= group.last), None)
    return None if index is None else ReleaseComparison(groups[index], groups[index - 1] if index else None)


def _join_releases(releases: Iterable[tuple[int, Totals]]) -> ReleaseGroup | None:
    """All releases as one group, however few their turns. Returns None without releases."""
    own = list(releases)
    return ReleaseGroup(own[0][0], own[-1][0], sum((totals for _, totals in own), Totals())) if own else None


def judge_rate(measure: Measure, after: Proportion, before: Proportion) -> RateVerdict:
    return judge_change(after, before, higher_is_worse=measure.higher_is_worse is not False)


def _find_excess(measure: Measure, after: Proportion, before: Proportion) -> float:
    """How many of the bad turns are more than before, as a share of them."""
    if measure.higher_is_worse:
        return _find_rise(after, before)
    return _find_rise(*(Proportion(rate.whole - rate.part, rate.whole) for rate in (after, before)))


def _find_rise(after: Proportion, before: Proportion) -> float:
    """By how much a share rose, as a part of what it is now; 0 if it did not. Both sides must have turns."""
    share, old_share = (side.part / side.whole for side in (after, before))
    return max(share - old_share, 0.0) / share if share else 0.0


def effect_url(number: int) -> str:
    return reverse("admin:audit_ceaudit_effect", args=[number])


def describe_effect(comparison: ReleaseComparison, shifts: Sequence[IntentShift]) -> ReleaseEffect:
    """The effect for other pages, with the `shifts` of intents that are to be named."""
    after, before = comparison.after, comparison.before
    rates = [
        RateChange(
            rate.measure.name, rate.measure.label.lower(), rate.before.share, rate.after.share, rate.verdict, rate.cause
        )
        for rate in comparison.rates
    ]
    turns_before = before.totals.turns if before else 0
    return ReleaseEffect(
        after.first, after.last, after.totals.turns, turns_before, rates, effect_url(after.last), shifts
    )


def _list_shifts(comparison: ReleaseComparison) -> list[IntentShift]:
    """The intents that have other messages because of a release: users may also ask something else since then.

    Empty if no intent lost messages: those that nobody understood before got better. Empty too if no change is clear,
    or if the same messages do not prove that the release caused it.
    """
    moved = comparison.list_moved(INTENT)
    has_lost = any(share.errors < 0 and share.name != UNKNOWN for share in moved)
    is_clear = any(abs(share.errors) >= _SHIFTED and share.is_clear and share.name != UNKNOWN for share in moved)
    if not (has_lost and is_clear):
        return []
    risen = [share for share in moved if share.errors > 0]
    excess = min((_find_rise(share.after, share.before) for share in risen), default=0.0)
    evidence = find_moved_turns([share.name for share in risen], comparison.after.first, comparison.after.last)
    if not evidence.explains(excess):
        return []
    return [IntentShift(name_intent(share.name), share.before.share or 0, share.after.share or 0) for share in moved]


def _find_shifts(groups: Sequence[ReleaseGroup]) -> Mapping[int, Sequence[IntentShift]]:
    """The shifts by the last release of a group, of the releases with the clearest ones.

    All turns from a release on are compared with all before: one release alone may have too few.
    """
    splits = [_split_at(groups, index) for index in range(1, len(groups))]
    sizes = [[abs(share.errors) for share in split.list_moved(INTENT) if share.name != UNKNOWN] for split in splits]
    order = sorted(range(len(splits)), key=lambda index: max(sizes[index], default=0), reverse=True)
    shifts: dict[int, Sequence[IntentShift]] = {}
    explained: set[str] = set()
    for split in (splits[index] for index in order[:_MOST_CHECKED]):
        own_shifts = _list_shifts(split)
        if any(shift.intent not in explained for shift in own_shifts):
            shifts[split.after.last] = own_shifts
            explained.update(shift.intent for shift in own_shifts)
    return shifts


def _split_at(groups: Sequence[ReleaseGroup], index: int) -> ReleaseComparison:
    """Compares all turns from a group onwards with all earlier ones."""
    before, after = (sum((group.totals for group in part), Totals()) for part in (groups[:index], groups[index:]))
    whole = ReleaseGroup(groups[0].first, groups[index - 1].last, before)
    return ReleaseComparison(groups[index]._replace(totals=after), whole, is_open=True)


def find_turning_point(measure: Measure, groups: Sequence[ReleaseGroup]) -> tuple[ReleaseEffect | None, str]:
    """The release that made a rate most clearly worse, and the cause; or None, and why no release is to blame."""
    rises = []
    for index in range(1, len(groups)):
        comparison = _split_at(groups, index)
        old_share, share = (Proportion(*measure.read_part(totals)) for totals in comparison.sides)
        if judge_rate(measure, share, old_share) is RateVerdict.WORSE:
            rises.append((abs(count_standard_errors(share, old_share)), index, comparison))
    reason = ""
    for _, _, comparison in sorted(rises, key=lambda rise: rise[:2], reverse=True)[:_MOST_CHECKED]:
        rate = comparison.judge(measure)
        if rate.verdict is RateVerdict.WORSE:
            return describe_effect(comparison, _list_shifts(comparison)), rate.cause
        reason = reason or f"No release is to blame as far as is known. {rate.cause}"
    return None, reason


def list_effects(groups: Sequence[ReleaseGroup], since_release: int) -> Iterator[ReleaseEffect]:
    """The effects of the groups that end with a release or a later one, the newest first; none of the first group."""
    shifts = _find_shifts(groups)
    for index in range(len(groups) - 1, 0, -1):
        if groups[index].last >= since_release:
            comparison = ReleaseComparison(groups[index], groups[index - 1])
            yield describe_effect(comparison, shifts.get(comparison.after.last, ()))


def _ceil_hour(moment: datetime) -> datetime:
    """The end of the last hour before a time: turns are counted by hour, and lists of them must not end earlier."""
    hour = floor_hour(moment)
    return hour if hour == moment else hour + timedelta(hours=1)
