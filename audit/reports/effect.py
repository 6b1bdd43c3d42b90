"""The effect of a release: the rates of the turns on it, beside those on the releases before it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from django.db.models import BooleanField, Case, Q, Sum, Value, When
from django.urls import reverse

from audit.models import CeTurnCount
from audit.reports.cause import find_bad_turns, find_moved_turns
from audit.reports.days import floor_hour
from audit.reports.measures import FAILED, FORMS_COMPLETED, NEEDED_PERSON, NOT_UNDERSTOOD_TURNS, Measure, Unit
from audit.reports.proportion import FEWEST_TURNS, Proportion, count_standard_errors, judge_change
from audit.reports.report import Selection, Totals, read_releases
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.record_columns import name_intent
from convengine.server.interfaces.release_history import ReleaseNote
from convengine.server.interfaces.turn_reports import IntentShift, RateChange, ReleaseEffect, Verdict

#: The shares that are watched.
RATES = (NOT_UNDERSTOOD_TURNS, NEEDED_PERSON, FORMS_COMPLETED, FAILED)
#: Turns that are so much older than the release are not compared, nor those that are so much later.
WINDOW = timedelta(days=30)
#: How many intents and states are listed, and from how many standard errors on.
MOST_MOVED, _MOVED = 8, 2.0
#: How many releases are checked for having made a rate worse.
_MOST_CHECKED = 3
#: From so many standard errors on, Home names the release: many intents and releases are compared, and the turns of a
#: conversation are not independent of each other.
_SHIFTED = {Unit.TURNS: 5.0, Unit.CONVERSATIONS: 3.5}


class ReleaseGroup(NamedTuple):
    """Releases that are judged together, because those before the last had too few turns."""

    first: int
    last: int
    totals: Totals

    @property
    def name(self) -> str:
        """Such as `release 12` or `releases 9 to 12`."""
        return f"release {self.last}" if self.first == self.last else f"releases {self.first} to {self.last}"


class MovedShare(NamedTuple):
    """An intent or a state with its share of the turns, or of the conversations begun, before and after."""

    name: str
    before: Proportion
    after: Proportion
    unit: Unit = Unit.TURNS

    @property
    def errors(self) -> float:
        """How many standard errors the share rose."""
        return count_standard_errors(self.after, self.before)

    @property
    def clearness(self) -> float:
        """From 1 on, Home says that it changed."""
        has_enough = min(self.before.whole, self.after.whole) >= FEWEST_TURNS
        return abs(self.errors) / _SHIFTED[self.unit] if has_enough else 0.0

    @property
    def is_clear(self) -> bool:
        """True if chance does not explain the change, nor too few turns."""
        return judge_change(self.after, self.before) in (Verdict.WORSE, Verdict.BETTER)


@dataclass(frozen=True)
class Comparison:
    """The turns on a release and on those before it."""

    after: ReleaseGroup
    before: ReleaseGroup | None
    #: When these turns were; the end is not included.
    since: datetime
    until: datetime
    #: True while both sides had their turns at the same time.
    is_gradual: bool = False
    #: The turns on this release and all later ones.
    since_then: Totals = field(default_factory=Totals)

    @property
    def rates(self) -> list[tuple[Measure, Proportion, Proportion, Proportion]]:
        """Each watched rate: before, on the release, and since then."""
        before, after, later = self.before.totals if self.before else Totals(), self.after.totals, self.since_then
        return [
            (measure, read_rate(before, measure), read_rate(after, measure), read_rate(later, measure))
            for measure in RATES
        ]


def group_releases(releases: Iterable[tuple[int, Totals]]) -> list[ReleaseGroup]:
    """Releases with their turns, in order. Those with too few turns are taken together with the next ones."""
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


def describe_effect(
    after: ReleaseGroup, before: ReleaseGroup, shifts: Mapping[int, Sequence[IntentShift]], *, is_open: bool = False
) -> ReleaseEffect:
    """The effect for other pages. `is_open`: `after` has the turns of all later releases, too."""
    rates = []
    for measure in RATES:
        old, new = read_rate(before.totals, measure), read_rate(after.totals, measure)
        verdict, cause = judge_effect(measure, after, before, is_open=is_open)
        rates.append(RateChange(measure.label.lower(), old.share, new.share, verdict, cause))
    turns, turns_before, url = after.totals.turns, before.totals.turns, effect_url(after.last)
    return ReleaseEffect(after.first, after.last, turns, turns_before, rates, url, shifts.get(after.last, ()))


def judge_effect(
    measure: Measure, after: ReleaseGroup, before: ReleaseGroup, *, is_open: bool = False
) -> tuple[Verdict, str]:
    """Whether a release made a rate worse or better; with what the same messages do, of a rate that is worse."""
    rate, old_rate = read_rate(after.totals, measure), read_rate(before.totals, measure)
    verdict = judge_rate(measure, rate, old_rate)
    if verdict not in (Verdict.WORSE, Verdict.MAYBE_WORSE):
        return verdict, ""
    evidence = find_bad_turns(measure, after.first, after.last, is_open=is_open)
    if not evidence.is_known:
        verdict = Verdict.CAUSE_UNKNOWN
    elif not evidence.explains(_find_excess(measure, rate, old_rate)):
        verdict = Verdict.NOT_CAUSED
    return verdict, evidence.describe(after.name)


def _find_excess(measure: Measure, after: Proportion, before: Proportion) -> float:
    """How many of the bad turns are more than before, as a share of them."""
    bad, old_bad = (
        (rate.part if measure.higher_is_worse else rate.whole - rate.part) / rate.whole for rate in (after, before)
    )
    return max(bad - old_bad, 0.0) / bad if bad else 0.0


def judge_rate(measure: Measure, after: Proportion, before: Proportion) -> Verdict:
    """Whether a rate got worse or better."""
    return judge_change(after, before, higher_is_worse=measure.higher_is_worse is not False)


def effect_url(number: int) -> str:
    """The page of a release's effect."""
    return reverse("admin:audit_ceaudit_effect", args=[number])


def build_rate_search(
    measure: Measure, since: datetime, until: datetime, *, release: int | None = None, intent: str | None = None
) -> str:
    """The search that lists the turns of a rate in a period; blank if none does. The end is not included."""
    if measure.search is None:
        return ""
    # The search includes its end.
    last = until - timedelta(microseconds=1)
    wanted = {**measure.search, "intent": intent, "release": release}
    wanted |= {"since": since.isoformat(), "until": last.isoformat()}
    given = urlencode({key: value for key, value in wanted.items() if value is not None})
    return f"{reverse('admin:audit_ceaudit_find')}?{given}"


def compare_release(release: ReleaseNote) -> Comparison | None:
    """The turns of a release and of those before it; null if it had none. One query."""
    if release.gradual:
        since, until = floor_hour(release.gradual.began), _ceil_hour(release.gradual.ended or release.at + WINDOW)
        return _compare_sides(release, release.gradual.parent_version, since, until)
    since, until = floor_hour(release.at - WINDOW), _ceil_hour(release.at + WINDOW)
    groups = group_releases(read_releases(Selection(since, until)))
    index = next((index for index, group in enumerate(groups) if group.first <= release.number <= group.last), None)
    if index is None:
        return None
    since_then = sum((group.totals for group in groups[index:]), Totals())
    return Comparison(groups[index], groups[index - 1] if index else None, since, until, since_then=since_then)


def _compare_sides(release: ReleaseNote, parent_version: int, since: datetime, until: datetime) -> Comparison | None:
    """Both sides of a gradual release, while it was gradual."""
    older, newer = Totals(), Totals()
    releases = read_releases(Selection(since, until))
    for number, totals in releases:
        if number == release.number:
            newer += totals
        elif number <= parent_version:
            older += totals
    if not newer.turns:
        return None
    before = ReleaseGroup(min(number for number, _ in releases), parent_version, older) if older.turns else None
    return Comparison(ReleaseGroup(release.number, release.number, newer), before, since, until, is_gradual=True)


def list_moved_intents(comparison: Comparison) -> list[MovedShare]:
    """The intents whose share of the turns changed most."""
    if comparison.before is None:
        return []
    return _choose_moved(_list_moved_intents(comparison.before.totals, comparison.after.totals))


def list_moved_openings(comparison: Comparison) -> list[MovedShare]:
    """The intents whose share of the first messages of conversations changed most."""
    if comparison.before is None:
        return []
    return _choose_moved(_list_moved_openings(comparison.before.totals, comparison.after.totals))


def list_moved_states(comparison: Comparison) -> list[MovedShare]:
    """The states whose share of the turns changed most. One query."""
    if comparison.before is None:
        return []
    after, before = comparison.after, comparison.before
    # While a release is gradual, others may lie between the sides.
    either_side = Q(config_version__range=(before.first, before.last)) | Q(
        config_version__range=(after.first, after.last)
    )
    sums = Selection(comparison.since, comparison.until).select_counts().filter(either_side, kind=CeTurnCount.STATE)
    when = When(config_version__gte=after.first, then=Value(True))
    is_after = Case(when, default=Value(False), output_field=BooleanField())
    rows = sums.annotate(is_after=is_after).values_list("value", "is_after")
    counts: dict[str, dict[bool, int]] = defaultdict(lambda: {True: 0, False: 0})
    for name, side, turns in rows.annotate(sum=Sum("turns")).order_by():
        counts[name][bool(side)] += turns
    return _choose_moved(
        MovedShare(name, Proportion(sides[False], before.totals.turns), Proportion(sides[True], after.totals.turns))
        for name, sides in counts.items()
    )


def _list_moved_intents(before: Totals, after: Totals) -> Iterator[MovedShare]:
    """Every intent with its share of the turns on both sides."""
    for intent in before.intents | after.intents:
        old, new = Proportion(before.intents[intent], before.turns), Proportion(after.intents[intent], after.turns)
        yield MovedShare(intent, old, new)


def _list_moved_openings(before: Totals, after: Totals) -> Iterator[MovedShare]:
    """Every intent with its share of the conversations begun on both sides."""
    for intent in before.openings | after.openings:
        old = Proportion(before.openings[intent], before.conversations)
        new = Proportion(after.openings[intent], after.conversations)
        yield MovedShare(intent, old, new, Unit.CONVERSATIONS)


def _choose_moved(moved: Iterable[MovedShare]) -> list[MovedShare]:
    clear = [share for share in moved if abs(share.errors) > _MOVED]
    return sorted(clear, key=lambda share: -abs(share.errors))[:MOST_MOVED]


def find_shifts(groups: Sequence[ReleaseGroup]) -> dict[int, list[IntentShift]]:
    """By the last release of a group: the intents that clearly have other shares from it on than before.

    The release with the clearest change of an intent explains the other intents that changed with it. A release is left
    out if no intent lost messages with it: those that nobody understood before got better.
    """
    shares = {group.last: _list_clearest_shares(before, after) for group, before, after in _split_at_each(groups)}
    changes = sorted(
        ((share.clearness, number, share.name) for number, of_release in shares.items() for share in of_release),
        reverse=True,
    )
    explained = {UNKNOWN}
    numbers: set[int] = set()
    for clearness, number, intent in changes:
        if clearness >= 1 and intent not in explained:
            numbers.add(number)
            explained.update(share.name for share in shares[number])
    first_of = {group.last: group.first for group in groups}
    return {
        number: [
            IntentShift(name_intent(share.name), str(share.unit), share.before.share or 0, share.after.share or 0)
            for share in shares[number]
        ]
        for number in sorted(numbers)
        if any(share.errors < 0 and share.name != UNKNOWN for share in shares[number])
        and _has_moved_messages(first_of[number], number, shares[number])
    }


def _has_moved_messages(first: int, last: int, shares: Sequence[MovedShare]) -> bool:
    """True when messages have another intent because of a release: users may also ask something else since then."""
    risen = [share for share in shares if share.errors > 0]
    excess = min((1 - (share.before.share or 0) / (share.after.share or 1) for share in risen), default=0.0)
    return find_moved_turns([share.name for share in risen], first, last).explains(excess)


def _list_clearest_shares(before: Totals, after: Totals) -> list[MovedShare]:
    """The intents whose shares changed most: of the turns, or of the conversations begun where that is clearer."""
    shares: dict[str, MovedShare] = {}
    for share in (*_list_moved_intents(before, after), *_list_moved_openings(before, after)):
        known = shares.get(share.name)
        if known is None or share.clearness > known.clearness:
            shares[share.name] = share
    return _choose_moved(shares.values())


def _split_at_each(groups: Sequence[ReleaseGroup]) -> Iterator[tuple[ReleaseGroup, Totals, Totals]]:
    """Each release but the first with the numbers before it, and with those from it on."""
    for index in range(1, len(groups)):
        before, after = (sum((group.totals for group in part), Totals()) for part in (groups[:index], groups[index:]))
        yield groups[index], before, after


def find_turning_point(
    measure: Measure, groups: Sequence[ReleaseGroup], shifts: Mapping[int, Sequence[IntentShift]]
) -> tuple[ReleaseEffect | None, str]:
    """The release that made a rate most clearly worse, all turns from it on beside all before; and why, or why none."""
    rises = []
    for index, (_, before, after) in enumerate(_split_at_each(groups), 1):
        share, old_share = read_rate(after, measure), read_rate(before, measure)
        if judge_rate(measure, share, old_share) is Verdict.WORSE:
            rises.append((abs(count_standard_errors(share, old_share)), index, before, after))
    reason = ""
    for _, index, before, after in sorted(rises, key=lambda rise: rise[:2], reverse=True)[:_MOST_CHECKED]:
        whole = ReleaseGroup(groups[0].first, groups[index - 1].last, before)
        from_here = groups[index]._replace(totals=after)
        verdict, cause = judge_effect(measure, from_here, whole, is_open=True)
        if verdict is Verdict.WORSE:
            return describe_effect(from_here, whole, shifts, is_open=True), cause
        reason = reason or f"No release is to blame as far as is known. {cause}"
    return None, reason


def list_effects(
    groups: Sequence[ReleaseGroup], since_release: int, shifts: Mapping[int, Sequence[IntentShift]]
) -> Iterator[ReleaseEffect]:
    """The effects of the releases from one on, the newest first."""
    for index in range(len(groups) - 1, 0, -1):
        if groups[index].last >= since_release:
            yield describe_effect(groups[index], groups[index - 1], shifts)


def _ceil_hour(moment: datetime) -> datetime:
    """The end of the last hour before a time: turns are counted by hour, and lists of them must not end earlier."""
    hour = floor_hour(moment)
    return hour if hour == moment else hour + timedelta(hours=1)


def read_rate(totals: Totals, measure: Measure) -> Proportion:
    """A watched rate of some turns."""
    return Proportion(*measure.read_part(totals))
