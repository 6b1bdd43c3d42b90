"""The effect of a release: its turns beside those of the release before it, or of the other side of a gradual one."""

from datetime import timedelta

import pytest
from django.utils import timezone

from audit.reports.cause import CauseEvidence
from audit.reports.effect import ReleaseGroup, choose_period, compare_release, group_releases, list_effects
from audit.reports.report import INTENT, Totals
from convengine.server.interfaces.release_history import GradualPeriod, ReleaseNote
from tests.audit.reports.counts import count, count_turns

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def note(number: int, *, days: int, gradual: GradualPeriod | None = None) -> ReleaseNote:
    return ReleaseNote(number, "ben", timezone.now() - timedelta(days=days), "Softer words", "", "", gradual)


def make_totals(turns: int) -> Totals:
    totals = Totals()
    totals.add("TURN", "OK", turns)
    return totals


def test_releases_with_few_turns_go_with_the_next_one() -> None:
    turns = {3: 50, 4: 10, 6: 10, 7: 40, 8: 29, 9: 1, 12: 5}
    groups = group_releases((number, make_totals(of_release)) for number, of_release in turns.items())
    assert [(group.first, group.last, group.totals.turns) for group in groups] == [
        (3, 3, 50), (4, 7, 60), (8, 9, 30), (10, 12, 5)
    ]  # fmt: skip


def test_turns_before_the_first_release_are_in_their_group() -> None:
    (group,) = group_releases([(0, make_totals(10)), (1, make_totals(50))])
    assert (group.first, group.last) == (0, 1)


def test_the_search_ends_with_the_last_hour_that_is_counted() -> None:
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    half = timedelta(minutes=30)
    trial = GradualPeriod(now - timedelta(hours=9) + half, now - timedelta(hours=5) + half, 4)
    count_turns(100, 10, days=5 / 24, release=5)
    release = note(5, days=1, gradual=trial)
    comparison = compare_release(release)
    assert comparison is not None
    assert comparison.after.totals.turns == 100
    period = choose_period(release)
    assert (period.since, period.until) == (now - timedelta(hours=9), now - timedelta(hours=4))


def test_a_release_is_compared_with_the_one_before_it() -> None:
    count_turns(300, 20, days=9, release=4)
    count_turns(200, 50, days=3, release=6)
    count_turns(100, 5, days=1, release=7)
    comparison = compare_release(note(6, days=3))
    assert comparison is not None
    assert comparison.before is not None
    assert (comparison.before.name, comparison.after.name) == ("release 4", "releases 5 to 6")
    assert comparison.rates[0][1:3] == ((20, 300), (50, 200))


def test_the_first_release_has_nothing_before_it() -> None:
    count_turns(300, 20, days=9, release=4)
    comparison = compare_release(note(4, days=10))
    assert comparison is not None
    assert comparison.before is None
    assert (comparison.list_moved(INTENT), comparison.list_moved("STATE")) == ([], [])


def test_a_release_without_turns_has_no_effect() -> None:
    assert compare_release(note(4, days=10)) is None


def test_old_turns_are_not_compared() -> None:
    count_turns(300, 20, days=60, release=4)
    count_turns(300, 20, days=3, release=5)
    comparison = compare_release(note(5, days=4))
    assert comparison is not None
    assert comparison.before is None


def test_both_sides_of_a_gradual_release_are_compared_while_it_is_gradual() -> None:
    now = timezone.now()
    trial = GradualPeriod(now - timedelta(days=6), now - timedelta(days=2), 4)
    count_turns(900, 0, days=9, release=4)
    count_turns(100, 10, days=5, release=4)
    count_turns(50, 20, days=5, release=5)
    count_turns(900, 0, days=1, release=5)
    comparison = compare_release(note(5, days=6, gradual=trial))
    assert comparison is not None
    assert comparison.is_gradual
    assert comparison.rates[0][1:3] == ((10, 100), (20, 50))


def test_the_intents_and_states_that_moved_most_come_first() -> None:
    for release, days, turns in ((4, 9, {"HOURS": 250, "FEES": 50}), (5, 3, {"HOURS": 100, "FEES": 180, "LOAN": 20})):
        for intent, number in turns.items():
            count("TURN", "OK", number, days=days, release=release, intent=intent)
            count("STATE", f"{intent}_DONE", number, days=days, release=release, intent=intent)
    comparison = compare_release(note(5, days=3))
    assert comparison is not None
    moved = comparison.list_moved(INTENT)
    assert [(share.name, share.before.part, share.after.part) for share in moved] == [
        ("HOURS", 250, 100), ("FEES", 50, 180), ("LOAN", 0, 20)
    ]  # fmt: skip
    assert [share.name for share in comparison.list_moved("STATE")] == ["HOURS_DONE", "FEES_DONE", "LOAN_DONE"]


def test_the_rise_of_a_small_share_is_not_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    # 0.04 % → 0.1 %: three of five messages are too many, and two of five prove to be moved.
    monkeypatch.setattr("audit.reports.effect.find_moved_turns", lambda *about: CauseEvidence(20, 20, 8))
    sides = (make_totals(100_000), make_totals(100_000))
    for totals, loans in zip(sides, (40, 100), strict=True):
        totals.add(INTENT, "HOURS", 100_000 - loans)
        totals.add(INTENT, "LOAN", loans)
    (effect,) = list_effects([ReleaseGroup(4, 4, sides[0]), ReleaseGroup(5, 5, sides[1])], 5)
    assert {shift.intent for shift in effect.shifts} == {"HOURS", "LOAN"}


def test_releases_between_the_sides_of_a_gradual_one_are_on_no_side() -> None:
    now = timezone.now()
    trial = GradualPeriod(now - timedelta(days=6), now - timedelta(days=2), 4)
    for turns, release in ((40, 4), (900, 5), (40, 6)):
        count_turns(turns, 0, days=5, release=release)
        count("STATE", "IDLE", turns, days=5, release=release)
    comparison = compare_release(note(6, days=6, gradual=trial))
    assert comparison is not None
    assert (comparison.list_moved(INTENT), comparison.list_moved("STATE")) == ([], [])
