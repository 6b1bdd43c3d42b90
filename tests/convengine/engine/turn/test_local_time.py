"""The turn's clock in the conversation's time zone."""

from datetime import UTC, datetime

import pytest

from convengine.engine.pipeline.engine import Engine
from convengine.engine.turn.facts import collect_facts
from convengine.engine.turn.live_settings import UnreadableSetting
from convengine.engine.turn.local_time import TIME_ZONE, describe_clock, get_local_time
from tests.builders import make_config, make_session, make_snapshot, make_turn
from tests.fakes.clock import FrozenClock

LATE = FrozenClock(datetime(2026, 11, 20, 23, 30, 15, 123456, tzinfo=UTC))


def test_without_a_time_zone_the_clock_is_in_utc() -> None:
    assert describe_clock(get_local_time(make_turn(clock=LATE))) == {
        "now": "2026-11-20T23:30:15+00:00",
        "today": "2026-11-20",
        "weekday": "Friday",
        "hour": 23,
    }


def test_the_time_zone_of_the_conversation_decides_which_day_it_is() -> None:
    berlin = make_snapshot(make_config("Session/TIME_ZONE", " Europe/Berlin "))

    assert describe_clock(get_local_time(make_turn(berlin, clock=LATE))) == {
        "now": "2026-11-21T00:30:15+01:00",
        "today": "2026-11-21",
        "weekday": "Saturday",
        "hour": 0,
    }


@pytest.mark.parametrize("text", ["Europe/Nowhere", "../etc/passwd", "Berlin time", "/etc/localtime"])
def test_a_text_that_names_no_time_zone_is_refused(text: str) -> None:
    with pytest.raises(UnreadableSetting, match="name of a time zone"):
        TIME_ZONE.kind.read(text)


def test_each_session_of_a_turn_has_its_time() -> None:
    assert Engine([]).run(make_turn(clock=LATE)).session.now == LATE.at.replace(microsecond=0)


def test_rules_read_the_clock_as_a_fact() -> None:
    assert collect_facts(make_session(now=LATE.at))["clock"]["today"] == "2026-11-20"


def test_the_clock_never_hides_a_field_of_the_context() -> None:
    assert collect_facts(make_session(now=LATE.at, context={"clock": "cuckoo"}))["clock"] == "cuckoo"


def test_outside_of_a_turn_there_is_no_clock() -> None:
    assert collect_facts(make_session())["clock"] == {}
