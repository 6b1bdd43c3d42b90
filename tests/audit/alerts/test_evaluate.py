"""What a rule says about counts: equal to a slow count by hand, now and in the past."""

import random
from datetime import timedelta
from decimal import Decimal

import pytest

from audit.alerts.evaluate import build_search, describe_rule, does_fire, format_value, read_rule, simulate_rule
from audit.models import CeAlertRule, CeTurnCount
from audit.reports.measures import MEASURES
from tests.audit.alerts.counts import NOW, count, make_rule

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
HOUR = timedelta(hours=1)


def count_by_hand(rule: CeAlertRule, since, until):  # type: ignore[no-untyped-def]
    """(turns, not understood) of the hours that begin in a time."""
    wanted = {"workspace_id": rule.workspace_id, "channel": rule.channel, "intent_code": rule.intent_code}
    turns = missed = 0
    for row in CeTurnCount.objects.filter(is_hour=True):
        if not since <= row.hour < until or any(
            value and getattr(row, name) != value for name, value in wanted.items()
        ):
            continue
        if rule.config_version is not None and row.config_version != rule.config_version:
            continue
        turns += row.turns if row.kind == "TURN" else 0
        missed += row.turns if row.kind == "STAGE" else 0
    return turns, missed


def fires_by_hand(rule: CeAlertRule, since, until) -> bool:  # type: ignore[no-untyped-def]
    turns, missed = count_by_hand(rule, since, until)
    if not turns or turns < rule.fewest:
        return False
    share = round(Decimal(100 * missed) / turns, 3)
    return share > rule.bound if rule.direction == "OVER" else share < rule.bound


def fill(world: random.Random) -> None:
    for hours_ago in range(60):
        for channel, intent in (("api", "HOURS"), ("web", "FEES")):
            turns = world.randrange(40)
            missed = world.randrange(turns + 1) if world.random() < 0.3 else min(turns, world.randrange(6))
            release = 3 if hours_ago > 20 else 4
            count(hours_ago, turns, missed, channel=channel, intent_code=intent, config_version=release)


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(3, 12))])
def test_a_rule_fires_exactly_when_a_count_by_hand_says_so(seed: int) -> None:
    world = random.Random(seed)
    fill(world)
    rule = make_rule(
        bound=Decimal(world.randrange(5, 40)),
        direction=world.choice(["OVER", "UNDER"]),
        hours=world.choice([1, 3, 6, 24]),
        fewest=world.choice([0, 10, 40]),
        channel=world.choice(["", "api", "web"]),
        intent_code=world.choice(["", "FEES"]),
        config_version=world.choice([None, 4]),
    )
    for minutes in (0, 1, 59, 100):
        at = NOW - timedelta(minutes=minutes)
        reading = read_rule(rule, at)
        since = (at - timedelta(hours=rule.hours)).replace(minute=0, second=0, microsecond=0)
        assert (reading.since, reading.until) == (since, at)
        assert reading.turns == count_by_hand(rule, since, at)[0]
        assert does_fire(rule, reading) is fires_by_hand(rule, since, at)

    simulation = simulate_rule(rule, 2, NOW)
    hours = [NOW.replace(minute=0) - HOUR * number for number in reversed(range(48))]
    firing = {hour for hour in hours if fires_by_hand(rule, hour - HOUR * rule.hours, hour)}
    simulated = {
        hour
        for episode in simulation.episodes
        for hour in hours
        if episode.since <= hour and (episode.until is None or hour < episode.until)
    }
    assert simulated == firing


def test_too_few_turns_do_not_fire() -> None:
    count(0, 10, 9)
    rule = make_rule(fewest=10)
    assert does_fire(rule, read_rule(rule, NOW))
    rule.fewest = 11
    assert not does_fire(rule, read_rule(rule, NOW))


def test_a_number_of_turns_needs_no_turns() -> None:
    rule = make_rule(measure="turns", direction="UNDER", bound=Decimal(5))
    assert does_fire(rule, read_rule(rule, NOW))
    count(1, 5)
    assert not does_fire(rule, read_rule(rule, NOW))


def test_the_past_is_one_query(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    fill(random.Random(1))
    rule = make_rule(hours=168)
    with django_assert_num_queries(1):
        simulate_rule(rule, 30, NOW)


def test_a_rule_reads_as_a_sentence() -> None:
    assert describe_rule(make_rule()) == "Not understood over 15\xa0% for an hour, with at least 30 turns"
    rule = make_rule(
        title="slow", measure="mean_ms", bound=Decimal("1500"), hours=24, fewest=0, channel="web", config_version=7
    )
    assert describe_rule(rule) == "Mean time over 1,500\xa0ms for a day, channel web, release 7"
    rule = make_rule(title="quiet", measure="turns", direction="UNDER", bound=Decimal("10.000"), workspace_id="shop")
    assert describe_rule(rule) == "Turns under 10 for an hour, workspace shop"


def test_values_have_their_unit() -> None:
    share, time, turns = MEASURES["not_understood"], MEASURES["mean_ms"], MEASURES["turns"]
    assert format_value(share, Decimal("12.500")) == "12.5\xa0%"
    assert format_value(time, Decimal("1200")) == "1,200\xa0ms"
    assert format_value(turns, Decimal("0.000")) == "0"


def test_one_failure_of_many_is_over_zero() -> None:
    count(0, 10_000, 1)
    rule = make_rule(bound=Decimal(0))
    reading = read_rule(rule, NOW)
    assert (reading.value, does_fire(rule, reading)) == (Decimal("0.01"), True)


def test_a_search_is_named_only_if_it_lists_the_counted_turns() -> None:
    count(0, 100, 20)
    rule, of_all = make_rule(), make_rule(title="All", workspace_id="")
    assert build_search(rule, read_rule(rule, NOW)) is not None
    count(0, 50, 40, workspace_id="other")
    assert build_search(rule, read_rule(rule, NOW)) is None
    assert build_search(of_all, read_rule(of_all, NOW)) is not None
