"""Days that are counted from a day that was said before, days of birth, limits of times."""

from datetime import UTC, datetime

import pytest

from convengine.engine.values import FieldSpec, Kind, ReadingSituation, Reason, field_spec, read_value
from convengine.engine.values.bounds import read_date_bound
from convengine.engine.values.date_times import read_time_limit

#: A Wednesday.
NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
DAY = FieldSpec("day", Kind.DATE, minimum="today")
VISIT = FieldSpec("visit", Kind.DATE_TIME, minimum="today")
BIRTH = field_spec("birth", {"format": "date", "title": "Date of birth", "x-max": "today"})
TIME = FieldSpec("time", Kind.TIME, minimum="08:00", maximum="16:00")


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("4 weeks from then", "en-GB", "2026-05-01"),
        ("10 days from that day", "en-GB", "2026-04-13"),
        ("a week after that", "en-GB", "2026-04-10"),
        ("three months", "en-GB", "2026-07-03"),
        ("for a month", "en-GB", "2026-05-03"),
        ("half a year", "en-GB", "2026-10-03"),
        ("the end of may", "en-GB", "2026-05-31"),
        ("end of the month", "en-GB", "2026-04-30"),
        ("end of the year", "en-GB", "2026-12-31"),
        ("the following saturday", "en-GB", "2026-04-04"),
        ("the friday after that", "en-GB", "2026-04-10"),
        ("same day next month", "en-GB", "2026-05-03"),
        ("4 wochen ab dann", "de-DE", "2026-05-01"),
        ("ab da 10 tage", "de-DE", "2026-04-13"),
        ("eine woche danach", "de-DE", "2026-04-10"),
        ("drei monate lang", "de-DE", "2026-07-03"),
        ("ende mai", "de-DE", "2026-05-31"),
        ("monatsende", "de-DE", "2026-04-30"),
        ("den tag drauf", "de-DE", "2026-04-04"),
        ("der darauffolgende samstag", "de-DE", "2026-04-04"),
    ],
)
def test_a_last_day_is_counted_from_the_first_one(text: str, locale: str, day: str) -> None:
    situation = ReadingSituation(NOW, locale=locale, earlier_days={"day": "2026-04-03"})

    assert read_value(DAY, text, situation).value == day


@pytest.mark.parametrize(
    ("text", "locale", "day"),
    [
        ("same day", "en-GB", "2026-03-18"),
        ("the next day", "en-GB", "2026-03-19"),
        ("the day before", "en-GB", "2026-03-17"),
        ("two days later", "en-GB", "2026-03-20"),
        ("a week after that", "en-GB", "2026-03-25"),
        ("the following monday", "en-GB", "2026-03-23"),
        ("2 weeks from then", "en-GB", "2026-04-01"),
        ("am selben tag", "de-DE", "2026-03-18"),
        ("den tag drauf", "de-DE", "2026-03-19"),
        ("am tag davor", "de-DE", "2026-03-17"),
        ("eine woche danach", "de-DE", "2026-03-25"),
        ("den montag drauf", "de-DE", "2026-03-23"),
        ("2 wochen ab dann", "de-DE", "2026-04-01"),
    ],
)
def test_a_day_is_counted_from_that_of_the_form_before(text: str, locale: str, day: str) -> None:
    situation = ReadingSituation(NOW, locale=locale, former_values={"day": "2026-03-18", "visit": "2026-03-18"})

    assert read_value(DAY, text, situation).value == day
    assert read_value(VISIT, f"{text}, 2pm" if locale == "en-GB" else f"{text}, 14 uhr", situation).value.startswith(
        day
    )


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("8 aug 79", "en-GB"), ("aug 8 79", "en-GB"), ("8th of august 79", "en-GB"), ("8.8.79", "en-GB"),
        ("8 8 79", "en-GB"),
        ("080879", "en-GB"), ("08081979", "en-GB"), ("8. aug 79", "de-DE"), ("8.8.79", "de-DE"), ("8 8 1979", "de-DE"),
        ("080879", "de-DE"),
    ],
)  # fmt: skip
def test_a_day_of_birth_has_a_short_year_and_few_signs(text: str, locale: str) -> None:
    assert read_value(BIRTH, text, ReadingSituation(NOW, locale=locale)).value == "1979-08-08"


def test_digits_are_no_day_to_come() -> None:
    situation = ReadingSituation(NOW, locale="en-GB")

    assert not any(read_value(DAY, text, situation).has_value for text in ("080826", "8 8 26"))


@pytest.mark.parametrize(
    ("text", "locale", "reason"),
    [
        ("i'm only in after 6pm", "en-GB", Reason.OUT_OF_BOUNDS),
        ("not before 5 pm", "en-GB", Reason.OUT_OF_BOUNDS),
        ("before 7am", "en-GB", Reason.OUT_OF_BOUNDS),
        ("only evenings", "en-GB", Reason.OUT_OF_BOUNDS),
        ("any time before 3", "en-GB", Reason.AMBIGUOUS),
        ("not before ten", "en-GB", Reason.AMBIGUOUS),
        ("mornings only", "en-GB", Reason.AMBIGUOUS),
        ("after 2 weeks", "en-GB", None),
        ("after 5?", "en-GB", None),
        ("actually 2 evenings", "en-GB", None),
        ("10", "en-GB", None),
        ("nach 17 uhr geht", "de-DE", Reason.OUT_OF_BOUNDS),
        ("ich bin erst ab 18 uhr da", "de-DE", Reason.OUT_OF_BOUNDS),
        ("frühestens 17 uhr", "de-DE", Reason.OUT_OF_BOUNDS),
        ("nur vormittags", "de-DE", Reason.AMBIGUOUS),
        ("nicht vor 10", "de-DE", Reason.AMBIGUOUS),
    ],
)
def test_a_limit_is_no_time_and_says_whether_it_leaves_one(text: str, locale: str, reason: Reason | None) -> None:
    assert read_time_limit(TIME, text, ReadingSituation(NOW, locale=locale)).reason is reason


def test_now_is_no_time_of_another_day() -> None:
    other = ReadingSituation(NOW, locale="en-GB", held_days={"day": "2026-03-18"})

    assert read_value(TIME, "now", other).reason is Reason.TIME_MISSING
    assert read_value(TIME, "now", ReadingSituation(NOW, locale="en-GB")).value == "09:00"
    assert read_value(FieldSpec("day", Kind.DATE, minimum="tomorrow"), "now", other).reason is Reason.OUT_OF_BOUNDS


def test_bounds_may_say_tomorrow_and_yesterday() -> None:
    bounds = [read_date_bound(bound, NOW.date()) for bound in ("tomorrow", "yesterday", "tomorrow+7d")]

    assert [bound and bound.isoformat() for bound in bounds] == ["2026-03-05", "2026-03-03", "2026-03-12"]
