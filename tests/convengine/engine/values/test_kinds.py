"""Each kind of value: what is read, what is asked back or refused and why, and what is stored (R114)."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import Outcome, Reading, ReadingSituation, field_spec, read_value

#: A Tuesday.
NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/London"))
OPTIONS = [
    {"value": "CHECK", "label": "Check-up", "synonyms": ["Kontrolle"]},
    {"value": "CLEAN", "label": "Cleaning", "synonyms": ["Reinigung"]},
    {"value": "PAIN", "label": "Pain", "synonyms": ["toothache", "Zahnschmerzen"]},
]


def read(text: str, locale: str = "en-GB", *, zone: str = "Europe/London", **declared: Any) -> Any:
    """The value; a list of candidates; `!REASON`; or null."""
    listed = tuple(option["value"] for option in declared.get("x-options", ()))
    situation = ReadingSituation(NOW, zone, locale, listed_options=listed)
    return describe(read_value(field_spec("field", declared), text, situation))


def describe(reading: Reading) -> Any:
    if reading.outcome is Outcome.VALUE:
        return reading.value
    return list(reading.candidates) or (f"!{reading.reason}" if reading.reason else None)


DATE = {"type": "string", "format": "date"}


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("tomorrow", "en-GB", "2026-11-25"), ("Friday", "en-GB", "2026-11-27"), ("next Monday", "en-GB", "2026-11-30"),
        ("in two weeks", "en-GB", "2026-12-08"), ("on the 30th", "en-GB", "2026-11-30"),
        ("3 December", "en-GB", "2026-12-03"), ("the day after tomorrow", "en-GB", "2026-11-26"),
        ("5 Dec 2026", "en-GB", "2026-12-05"), ("2026-12-05", "en-GB", "2026-12-05"), ("5.12.", "de-DE", "2026-12-05"),
        ("1st of May 2027", "en-GB", "2027-05-01"), ("31.05.2027", "en-GB", "2027-05-31"),
        ("morgen", "de-DE", "2026-11-25"), ("Freitag", "de-DE", "2026-11-27"),
        ("nächsten Montag", "de-DE", "2026-11-30"), ("in zwei Wochen", "de-DE", "2026-12-08"),
        ("am 30.", "de-DE", "2026-11-30"),
        ("3. Dezember", "de-DE", "2026-12-03"), ("übermorgen", "de-DE", "2026-11-26"),
    ],
)  # fmt: skip
def test_a_date_is_read_and_stored_as_year_month_day(text: str, locale: str, value: str) -> None:
    assert read(text, locale, **DATE) == value


def test_a_numeric_date_is_read_by_locale_and_asked_back_without_one() -> None:
    assert read("03/04/2027", "en-GB", **DATE) == "2027-04-03"
    assert read("03/04/2027", "en-US", **DATE) == "2027-03-04"
    assert sorted(read("03/04/2027", "", **DATE)) == ["2027-03-04", "2027-04-03"]


@pytest.mark.parametrize(
    ("text", "locale", "reason"),
    [
        ("30 February", "en-GB", "!INVALID_DATE"), ("am 30. Februar", "de-DE", "!INVALID_DATE"),
        ("yesterday", "en-GB", "!OUT_OF_BOUNDS"), ("1 June 2027", "en-GB", "!OUT_OF_BOUNDS"),
        ("gestern", "de-DE", "!OUT_OF_BOUNDS"),
    ],
)  # fmt: skip
def test_a_date_that_is_none_or_outside_of_its_bounds_is_refused(text: str, locale: str, reason: str) -> None:
    assert read(text, locale, **DATE, **{"x-min": "today", "x-max": "today+90d"}) == reason


def test_both_ends_of_the_bounds_are_allowed() -> None:
    bounds = {"x-min": "today", "x-max": "today+90d"}

    assert read("today", **DATE, **bounds) == "2026-11-24"
    assert read("22 February 2027", **DATE, **bounds) == "2027-02-22"
    assert read("23 February 2027", **DATE, **bounds) == "!OUT_OF_BOUNDS"


def test_a_date_without_a_year_is_the_next_such_day_and_the_last_one_where_bounds_say_past() -> None:
    assert read("3 May", **DATE) == "2027-05-03"
    assert read("3 May", **DATE, **{"x-max": "today"}) == "2026-05-03"
    assert read("3. Mai", "de-DE", **DATE, **{"x-max": "today"}) == "2026-05-03"


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("3pm", "en-GB", "15:00"), ("half past four", "en-GB", "16:30"), ("16:30", "en-GB", "16:30"),
        ("at noon", "en-GB", "12:00"), ("halb fünf", "de-DE", "16:30"), ("um 16 Uhr", "de-DE", "16:00"),
        ("Viertel nach drei", "de-DE", "15:15"), ("um 12 Uhr mittags", "de-DE", "12:00"),
    ],
)  # fmt: skip
def test_a_time_is_read_and_stored_as_hour_and_minute(text: str, locale: str, value: str) -> None:
    assert read(text, locale, format="time", **{"x-min": "08:00", "x-max": "18:00"}) == value


def test_a_time_that_is_none_or_outside_of_its_bounds_is_refused() -> None:
    assert read("25:00", format="time") == "!INVALID_TIME"
    assert read("um 25 Uhr", "de-DE", format="time") == "!INVALID_TIME"
    assert read("7pm", format="time", **{"x-max": "18:00"}) == "!OUT_OF_BOUNDS"


def test_an_hour_is_asked_back_where_both_halves_of_the_day_are_within_bounds() -> None:
    assert sorted(read("at 3", format="time")) == ["03:00", "15:00"]
    assert read("at 3", format="time", **{"x-min": "08:00", "x-max": "18:00"}) == "15:00"


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("tomorrow at 3pm", "en-GB", "2026-11-25T15:00:00+01:00"),
        ("morgen um 15 Uhr", "de-DE", "2026-11-25T15:00:00+01:00"),
        ("5 July 2027, 16:30", "en-GB", "2027-07-05T16:30:00+02:00"),
    ],
)
def test_a_date_time_is_stored_with_the_offset_of_the_conversation(text: str, locale: str, value: str) -> None:
    assert read(text, locale, zone="Europe/Berlin", format="date-time") == value


def test_half_of_a_date_time_is_asked_back() -> None:
    assert read("tomorrow", format="date-time") == "!TIME_MISSING"
    assert read("at 3pm", format="date-time") == "!DATE_MISSING"


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("two weeks", "en-GB", "P2W"), ("90 minutes", "en-GB", "PT90M"), ("half an hour", "en-GB", "PT30M"),
        ("zwei Wochen", "de-DE", "P2W"), ("90 Minuten", "de-DE", "PT90M"), ("eine halbe Stunde", "de-DE", "PT30M"),
        ("anderthalb Stunden", "de-DE", "PT1H30M"),
    ],
)  # fmt: skip
def test_a_duration_is_read_and_stored_in_the_form_of_iso_8601(text: str, locale: str, value: str) -> None:
    assert read(text, locale, format="duration") == value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("twelve", "en-GB", 12), ("a dozen", "en-GB", 12), ("1.5k", "en-GB", 1500), ("zwölf", "de-DE", 12),
     ("ein Dutzend", "de-DE", 12), ("two hundred and three", "en-GB", 203), ("fünfundzwanzig", "de-DE", 25)],
)  # fmt: skip
def test_a_number_is_read_and_stored_as_a_json_number(text: str, locale: str, value: int) -> None:
    assert read(text, locale, type="number") == value


def test_a_sum_of_money_is_read_by_locale_in_the_currency_of_the_field() -> None:
    euro = {"type": "number", "x-currency": "EUR"}

    assert read("1,200.50 €", "en-GB", **euro) == 1200.5
    assert read("1.200,50 €", "de-DE", **euro) == 1200.5
    assert read("1200", "de-DE", **euro) == 1200
    assert read("$20", "en-GB", **euro) == "!WRONG_UNIT"


@pytest.mark.parametrize(
    ("text", "locale", "title", "value"),
    [
        ("a year and a half", "en-GB", "Number of months", 18), ("ok two years", "en-GB", "Number of months", 24),
        ("half a year please", "en-GB", "Number of months", 6), ("a fortnight", "en-GB", "Number of days", 14),
        ("an hour", "en-GB", "Number of minutes", 60), ("a week", "en-GB", "Number of nights", 7),
        ("anderthalb Jahre", "de-DE", "Anzahl Monate", 18), ("ein Dreivierteljahr", "de-DE", "Anzahl Monate", 9),
        ("zwei Wochen", "de-DE", "Anzahl Tage", 14), ("1,5 Stunden", "de-DE", "Anzahl Minuten", 90),
        ("6 weeks", "en-GB", "Number of months", "!WRONG_UNIT"),
        ("3 days", "en-GB", "Number of nights", "!WRONG_UNIT"),
        ("8 hours", "en-GB", "Number of days", "!WRONG_UNIT"),
        ("4 years", "en-GB", "Number of months", "!OUT_OF_BOUNDS"),
    ],
)  # fmt: skip
def test_a_unit_that_converts_exactly_to_that_of_the_field_is_read(
    text: str, locale: str, title: str, value: Any
) -> None:
    bounds = {"maximum": 36} if "month" in title.lower() else {}
    assert read(text, locale, type="integer", title=title, **bounds) == value


def test_a_unit_that_is_not_the_one_of_the_field_is_refused() -> None:
    assert read("3 months", type="integer", title="Number of days") == "!WRONG_UNIT"
    assert read("3 Monate", "de-DE", type="integer", title="Anzahl Tage") == "!WRONG_UNIT"
    assert read("3 days", type="integer", title="Number of days") == 3


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("Cleaning", "en-GB", "CLEAN"), ("check up", "en-GB", "CHECK"), ("check-up", "en-GB", "CHECK"),
        ("toothache", "en-GB", "PAIN"), ("cleanings", "en-GB", "CLEAN"), ("cleening", "en-GB", "CLEAN"),
        ("the second one", "en-GB", "CLEAN"), ("number 3", "en-GB", "PAIN"), ("CLEAN", "en-GB", "CLEAN"),
        ("Kontrolle", "de-DE", "CHECK"), ("Reinigungen", "de-DE", "CLEAN"), ("Reinigng", "de-DE", "CLEAN"),
        ("die zweite", "de-DE", "CLEAN"),
    ],
)  # fmt: skip
def test_a_choice_is_read_and_its_value_is_stored(text: str, locale: str, value: str) -> None:
    assert read(text, locale, **{"x-options": OPTIONS}) == value


def test_two_choices_that_are_equally_near_are_asked_back_and_others_are_refused() -> None:
    rooms = [{"value": "S", "label": "small room"}, {"value": "L", "label": "large room"}]

    assert read("room", **{"x-options": rooms}) == ["S", "L"]
    assert read("purple", **{"x-options": OPTIONS}) == "!NOT_AN_OPTION"


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("07700 900123", "en-GB", "+447700900123"), ("+44 7700 900123", "de-DE", "+447700900123"),
        ("0171 5550102", "de-DE", "+491715550102"), ("my number is 020 7946 0018", "en-GB", "+442079460018"),
        ("12345", "en-GB", "!TOO_SHORT"),
    ],
)  # fmt: skip
def test_a_phone_number_is_read_by_country_and_stored_in_e164(text: str, locale: str, value: str) -> None:
    assert read(text, locale, format="phone") == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("Ann@Example.org", "Ann@example.org"), ("it's ann@example.org", "ann@example.org"),
     ("ann@example", "!INVALID_EMAIL")],
)  # fmt: skip
def test_an_email_address_is_stored_as_written_and_normalised(text: str, value: str) -> None:
    assert read(text, format="email") == value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("sw1a 1aa", "en-GB", "SW1A 1AA"), ("10115", "de-DE", "10115"), ("1010", "de-AT", "1010"),
     ("1011", "de-DE", "!INVALID_POSTCODE")],
)  # fmt: skip
def test_a_post_code_is_read_by_country(text: str, locale: str, value: str) -> None:
    assert read(text, locale, **{"x-kind": "postcode"}) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("DE89 3704 0044 0532 0130 00", "DE89370400440532013000"), ("de89370400440532013000", "DE89370400440532013000"),
     ("DE89 3704 0044 0532 0130 01", "!WRONG_CHECK_DIGITS")],
)  # fmt: skip
def test_an_iban_is_stored_without_blanks_if_its_check_digits_fit(text: str, value: str) -> None:
    assert read(text, format="iban") == value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("yes", "en-GB", True), ("looks good", "en-GB", True), ("nope, leave it", "en-GB", False),
     ("ja gerne", "de-DE", True), ("nein danke", "de-DE", False), ("maybe", "en-GB", None)],
)  # fmt: skip
def test_yes_and_no_are_stored_as_json_booleans(text: str, locale: str, value: bool | None) -> None:
    assert read(text, locale, type="boolean") is value


def test_the_same_message_reads_the_same_with_the_clock_of_its_turn() -> None:
    def read_at(year: int) -> Any:
        now = NOW.replace(year=year)
        return describe(read_value(field_spec("field", DATE), "tomorrow", ReadingSituation(now, "Europe/London")))

    assert (read_at(2026), read_at(2026), read_at(2027)) == ("2026-11-25", "2026-11-25", "2027-11-25")


def make_options(*labels: str) -> list[dict[str, Any]]:
    return [{"value": label, "label": label} for label in labels]


@pytest.mark.parametrize(
    ("text", "labels", "value"),
    [
        ("just the hall", ("Hall floor", "Kitchen floor", "Hall and kitchen floor"), "Hall floor"),
        ("only the left one", ("Left eye", "Right eye", "Both eyes"), "Left eye"),
        ("both of them please", ("Left eye", "Right eye", "Both eyes"), "Both eyes"),
        ("front and rear", ("Front wheel", "Rear wheel", "Both wheels"), "Both wheels"),
        ("front or rear", ("Front wheel", "Rear wheel", "Both wheels"), ["Front wheel", "Rear wheel"]),
        ("the lot", ("Wash", "Wax", "Wash and wax"), "Wash and wax"),
        ("everything", ("Wash and dry", "Wax", "Polish"), "!NOT_AN_OPTION"),
        ("wash", ("Wash and dry", "Kids wash"), ["Wash and dry", "Kids wash"]),
        ("how big are they", ("Big room", "Small room", "Hall"), None),
        ("hm which is the big one", ("Big room", "Small room", "Hall"), None),
    ],
)
def test_of_joined_options_the_one_that_is_meant_is_read(text: str, labels: tuple[str, ...], value: Any) -> None:
    assert read(text, **{"x-options": make_options(*labels)}) == value


@pytest.mark.parametrize(
    ("text", "labels", "value"),
    [
        ("nur oben", ("Oberes Stockwerk", "Unteres Stockwerk", "Beide Stockwerke"), "Oberes Stockwerk"),
        ("bloß das linke", ("Linkes Bein", "Rechtes Bein", "Beide Beine"), "Linkes Bein"),
        ("alle beide", ("Linkes Bein", "Rechtes Bein", "Beide Beine"), "Beide Beine"),
        ("innen", ("Nur innen", "Nur außen", "Innen und außen"), "Nur innen"),
        ("außen auch", ("Nur innen", "Nur außen", "Innen und außen"), ["Nur außen", "Innen und außen"]),
        ("wie groß sind die denn", ("Großer Raum", "Kleiner Raum"), None),
    ],
)
def test_of_joined_german_options_the_one_that_is_meant_is_read(text: str, labels: tuple[str, ...], value: Any) -> None:
    assert read(text, "de-DE", **{"x-options": make_options(*labels)}) == value


TIME = {"type": "string", "format": "time", "x-min": "09:30", "x-max": "17:00"}


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("as early as possible please", "en-GB", "09:30"),
        ("the last slot, I work until four", "en-GB", "17:00"),
        ("I see. Then the earliest you have", "en-GB", "09:30"),
        ("is it open late?", "en-GB", None),
        ("so spät wie möglich", "de-DE", "17:00"),
        ("am besten möglichst früh, ich muss zur Arbeit", "de-DE", "09:30"),
        ("möglichst früh bitte", "de-DE", "09:30"),
        ("as early as possible... let's say 11", "en-GB", "11:00"),
        ("whatever suits you, say 10:30", "en-GB", "10:30"),
        ("so früh wie möglich, sagen wir 10", "de-DE", "10:00"),
        ("egal, also 15 Uhr", "de-DE", "15:00"),
        ("egal, sagen wir nicht 10", "de-DE", None),
        ("10 if you have it", "en-GB", "10:00"),
        ("10:30 if there's still a slot", "en-GB", "10:30"),
        ("10, falls da noch was frei ist", "de-DE", "10:00"),
        ("um 10, wenn's bei euch passt haha", "de-DE", "10:00"),
        ("10 if it is not too early", "en-GB", None),
        ("10 if my boss lets me", "en-GB", None),
    ],
)
def test_the_earliest_and_latest_time_are_the_bounds(text: str, locale: str, value: str | None) -> None:
    assert read(text, locale, **TIME) == value


def test_without_bounds_nothing_is_the_latest() -> None:
    assert read("as late as possible", type="string", format="time") is None


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("max £250", "en-GB", 250), ("all four", "en-GB", 4),
     ("alle vier", "de-DE", 4)],
)  # fmt: skip
def test_a_number_may_be_a_limit_or_all_there_is(text: str, locale: str, value: int) -> None:
    assert read(text, locale, type="integer", title="Budget") == value


@pytest.mark.parametrize(("text", "locale"), [("toothache lol", "en-GB"), ("haha Zahnschmerzen :)", "de-DE")])
def test_laughter_beside_an_option_says_nothing(text: str, locale: str) -> None:
    assert read(text, locale, **{"x-options": OPTIONS}) == "PAIN"
    assert read("lol", locale, **{"x-options": OPTIONS}) in (None, "!NOT_AN_OPTION")
