"""Every row of the table of values (R114), by name."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import Kind, Outcome, Reading, ReadingSituation, Reason, field_spec, read_value, say_value

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
BERLIN = ReadingSituation(NOW, "Europe/Berlin", "en-GB")
GERMAN = replace(BERLIN, locale="de-DE")
VISIT = {
    "x-options": [
        {"value": "CHECK", "label": "Check-up", "synonyms": ["examination"]},
        {"value": "CLEAN", "label": "Cleaning"},
        {"value": "PAIN", "label": "Pain", "synonyms": ["toothache"]},
    ]
}


def read(declared: dict[str, Any], text: str, situation: ReadingSituation = BERLIN, name: str = "field") -> Reading:
    return read_value(field_spec(name, declared), text, situation)


# --- date ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("tomorrow", "2026-11-25"), ("Friday", "2026-11-27"), ("next Monday", "2026-11-30"),
        ("in two weeks", "2026-12-08"), ("on the 30th", "2026-11-30"), ("3 December", "2026-12-03"),
        ("5.12.", "2026-12-05"), ("the day after tomorrow", "2026-11-26"), ("5 Dec 2026", "2026-12-05"),
    ],
)  # fmt: skip
def test_a_date_is_read(text: str, value: str) -> None:
    assert read({"format": "date"}, text).value == value


@pytest.mark.parametrize(
    "text", ["2026-12-05", "2026/12/05", "5/12/2026", "5. 12. 2026", "5th of Dec 2026", "Dec 5, 2026", "5-12-2026"]
)
def test_the_dates_that_were_read_before_are_still_read(text: str) -> None:
    assert read({"format": "date"}, text).value == "2026-12-05"


@pytest.mark.parametrize("locale", ["", "en"])
def test_a_numeric_date_without_a_country_is_asked_back(locale: str) -> None:
    reading = read({"format": "date"}, "03/04", replace(BERLIN, locale=locale))

    assert (reading.outcome, reading.reason) == (Outcome.CANDIDATES, Reason.AMBIGUOUS)
    assert reading.candidates == ("2027-04-03", "2027-03-04")


@pytest.mark.parametrize(
    ("locale", "value"), [("en-GB", "2027-04-03"), ("en-US", "2027-03-04"), ("de-DE", "2027-04-03")]
)
def test_the_country_says_the_order_of_a_numeric_date(locale: str, value: str) -> None:
    assert read({"format": "date"}, "03/04", replace(BERLIN, locale=locale)).value == value


def test_30_february_is_refused() -> None:
    reading = read({"format": "date"}, "30 February")

    assert (reading.outcome, reading.reason) == (Outcome.REFUSED, Reason.INVALID_DATE)
    assert (reading.data["day"], reading.data["month"]) == (30, 2)


@pytest.mark.parametrize("text", ["yesterday", "in a year", "1 March 2027"])
def test_a_date_outside_of_its_bounds_is_refused(text: str) -> None:
    reading = read({"format": "date", "x-min": "today", "x-max": "today+90d"}, text)

    assert reading.reason is Reason.OUT_OF_BOUNDS
    assert (reading.data["min"], reading.data["max"]) == ("2026-11-24", "2027-02-22")


@pytest.mark.parametrize("text", ["today", "22 February 2027"])
def test_both_bounds_of_a_date_are_allowed(text: str) -> None:
    assert read({"format": "date", "x-min": "today", "x-max": "today+90d"}, text).has_value


def test_bounds_leave_one_of_two_days() -> None:
    assert read({"format": "date", "x-max": "2026-12-01"}, "next friday").value == "2026-11-27"


def test_a_date_without_a_year_is_the_next_such_day() -> None:
    assert read({"format": "date"}, "3 March").value == "2027-03-03"


@pytest.mark.parametrize(
    ("text", "value"),
    [("3 March", "2026-03-03"), ("Friday", "2026-11-20"), ("the 30th", "2026-10-30"), ("05/12/84", "1984-12-05")],
)
def test_a_date_without_a_year_is_the_last_one_where_the_bounds_say_past(text: str, value: str) -> None:
    assert read({"format": "date", "x-max": "today"}, text).value == value


@pytest.mark.parametrize(
    ("day", "text", "days"),
    [
        (21, "next Monday", ["2026-11-23"]),  # A Saturday.
        (22, "next Monday", ["2026-11-23", "2026-11-30"]),  # A Sunday.
        (23, "next Monday", ["2026-11-30"]),
        (27, "Friday", ["2026-11-27", "2026-12-04"]),
        (27, "this Friday", ["2026-11-27"]),
        (27, "Friday week", ["2026-12-04"]),
        (28, "this Friday", ["2026-12-04"]),
        (30, "the 31st", ["2026-12-31"]),
        (30, "in a month", ["2026-12-30"]),
    ],
)
def test_a_weekday_is_asked_back_where_people_disagree(day: int, text: str, days: list[str]) -> None:
    reading = read({"format": "date"}, text, replace(BERLIN, now=NOW.replace(day=day)))

    assert ([reading.value] if reading.has_value else list(reading.candidates)) == days


def test_a_day_of_two_possible_centuries_is_of_this_one() -> None:
    assert read({"format": "date", "x-max": "today"}, "5/12/20").value == "2020-12-05"
    assert read({"format": "date", "x-max": "today"}, "5/12/65").value == "1965-12-05"


def test_a_date_counts_from_the_day_in_the_time_zone_of_the_conversation() -> None:
    late = datetime(2026, 11, 24, 23, 30, tzinfo=ZoneInfo("UTC"))

    assert read({"format": "date"}, "tomorrow", ReadingSituation(late, "Europe/Berlin", "en-GB")).value == "2026-11-26"
    assert read({"format": "date"}, "tomorrow", ReadingSituation(late, "", "en-GB")).value == "2026-11-25"


# --- time and date-time -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("3pm", "15:00"), ("16:30", "16:30"), ("at noon", "12:00")])
def test_a_time_is_read(text: str, value: str) -> None:
    assert read({"format": "time"}, text).value == value


def test_25_00_is_refused() -> None:
    assert read({"format": "time"}, "25:00").reason is Reason.INVALID_TIME


@pytest.mark.parametrize("text", ["at 3", "half past four"])
def test_a_time_is_asked_back_where_both_halves_of_the_day_are_allowed(text: str) -> None:
    assert len(read({"format": "time"}, text).candidates) == 2


@pytest.mark.parametrize(("text", "value"), [("at 3", "15:00"), ("half past four", "16:30"), ("at 9", "09:00")])
def test_a_time_is_the_one_that_the_bounds_leave(text: str, value: str) -> None:
    assert read({"format": "time", "x-min": "08:00", "x-max": "18:00"}, text).value == value


def test_a_time_outside_of_its_bounds_is_refused() -> None:
    reading = read({"format": "time", "x-min": "08:00", "x-max": "18:00"}, "7pm")

    assert (reading.reason, dict(reading.data)) == (
        Reason.OUT_OF_BOUNDS, {"value": "19:00", "min": "08:00", "max": "18:00"},
    )  # fmt: skip


def test_a_date_time_has_its_offset() -> None:
    assert read({"format": "date-time"}, "tomorrow at 3pm").value == "2026-11-25T15:00:00+01:00"
    assert read({"format": "date-time"}, "5 July 2027 at 3pm").value == "2027-07-05T15:00:00+02:00"


@pytest.mark.parametrize(
    ("text", "locale", "time"),
    [
        ("tomorrow at 3", "en-GB", "15:00"),
        ("tomorrow at half past two", "en-GB", "14:30"),
        ("tomorrow at 9", "en-GB", "09:00"),
        ("tomorrow at 11", "en-GB", "11:00"),
        ("tomorrow at 5", "en-GB", "17:00"),
        ("tomorrow at 12", "en-GB", "12:00"),
        ("morgen um 9", "de-DE", "09:00"),
        ("morgen um 8", "de-DE", "08:00"),
        ("morgen halb drei", "de-DE", "14:30"),
        ("morgen um viertel vor eins", "de-DE", "12:45"),
        ("morgen um 3 Uhr", "de-DE", "15:00"),
    ],
)
def test_the_usual_hours_say_which_half_of_the_day_a_moment_is_in(text: str, locale: str, time: str) -> None:
    assert read({"format": "date-time"}, text, replace(BERLIN, locale=locale)).value == f"2026-11-25T{time}:00+01:00"


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("tomorrow at 8", "en-GB"),
        ("tomorrow at half past six", "en-GB"),
        ("tomorrow at 7", "en-GB"),
        ("morgen um 7", "de-DE"),
        ("morgen um halb sieben", "de-DE"),
    ],
)
def test_a_moment_is_asked_back_where_both_halves_of_the_day_are_usual(text: str, locale: str) -> None:
    assert len(read({"format": "date-time"}, text, replace(BERLIN, locale=locale)).candidates) == 2


def test_the_time_that_a_field_holds_says_which_half_of_the_day_is_meant() -> None:
    evening = replace(BERLIN, held_times={"f": "20:30"})

    assert read_value(field_spec("f", {"format": "date-time"}), "tomorrow at 9", evening).value[11:16] == "21:00"


def test_the_bounds_of_a_date_time_leave_one() -> None:
    assert read({"format": "date-time", "x-min": "now"}, "today at 9").value == "2026-11-24T21:00:00+01:00"


def test_a_date_and_a_time_may_come_one_after_the_other() -> None:
    first = read({"format": "date-time"}, "tomorrow")
    assert (first.reason, first.data["date"]) == (Reason.TIME_MISSING, "2026-11-25")

    second = read({"format": "date-time"}, "3pm", replace(BERLIN, known_part=first.data["date"]))
    assert second.value == "2026-11-25T15:00:00+01:00"


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("7pm", "2026-11-27T19:00:00+01:00"),
        ("in the evening", "2026-11-27T19:00:00+01:00"),
        ("pm", "2026-11-27T19:00:00+01:00"),
        ("half past four in the afternoon", "2026-11-27T16:30:00+01:00"),
        ("Saturday at 3pm", "2026-11-28T15:00:00+01:00"),
    ],
)
def test_the_half_of_the_day_answers_which_of_two_moments_is_meant(answer: str, value: str) -> None:
    local = replace(BERLIN, known_part="2026-11-27T07:00")

    assert read({"format": "date-time"}, answer, local).value == value
    assert len(read({"format": "date-time"}, "Saturday", local).candidates) == 2


def test_the_hour_that_the_change_of_clocks_leaves_out_is_refused() -> None:
    assert read({"format": "date-time"}, "28 March 2027 at 02:30").reason is Reason.INVALID_TIME


# --- duration, number, money --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("two weeks", "P2W"), ("90 minutes", "PT90M"), ("half an hour", "PT30M")])
def test_a_duration_is_read(text: str, value: str) -> None:
    assert read({"format": "duration"}, text).value == value


def test_a_duration_has_bounds() -> None:
    assert read({"format": "duration", "x-max": "PT1H"}, "90 minutes").reason is Reason.OUT_OF_BOUNDS


def test_a_bare_number_takes_the_unit_of_the_name() -> None:
    assert read({"format": "duration", "title": "Length in minutes"}, "90").value == "PT90M"


@pytest.mark.parametrize(("text", "value"), [("twelve", 12), ("a dozen", 12), ("1.5k", 1500)])
def test_a_number_is_read(text: str, value: float) -> None:
    assert read({"type": "number"}, text).value == value


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("1,200.50 €", "en-GB", 1200.5),
        ("1.200,50 €", "de-DE", 1200.5),
        ("€20", "en-GB", 20),
        ("50 cents", "en-GB", 0.5),
    ],
)
def test_money_is_read_by_locale(text: str, locale: str, value: float) -> None:
    assert read({"type": "number", "x-currency": "EUR"}, text, replace(BERLIN, locale=locale)).value == value


def test_another_currency_is_refused() -> None:
    reading = read({"type": "number", "x-currency": "EUR"}, "$20")

    assert (reading.reason, dict(reading.data)) == (Reason.WRONG_UNIT, {"unit": "USD", "expected": "EUR"})


def test_a_unit_that_is_not_the_fields_is_refused() -> None:
    reading = read({"type": "integer"}, "6 weeks", name="tenureMonths")

    assert (reading.reason, dict(reading.data)) == (Reason.WRONG_UNIT, {"unit": "week", "expected": "month"})


@pytest.mark.parametrize(("name", "text"), [("tenureMonths", "24 months"), ("guests", "4 people"), ("age", "35 years")])
def test_the_unit_of_the_field_may_be_said(name: str, text: str) -> None:
    assert read({"type": "integer"}, text, name=name).has_value


def test_a_number_has_bounds_and_a_type() -> None:
    assert read({"type": "integer", "maximum": 10}, "12").reason is Reason.OUT_OF_BOUNDS
    assert read({"type": "integer"}, "1.5").reason is Reason.NOT_WHOLE
    assert isinstance(read({"type": "integer"}, "12").value, int)


# --- choice -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Check-up", "CHECK"), ("checkup", "CHECK"), ("check up please", "CHECK"), ("examination", "CHECK"),
        ("cleanings", "CLEAN"), ("cleening", "CLEAN"), ("a cleaning would be great", "CLEAN"), ("pian", "PAIN"),
        ("I have a toothache", "PAIN"), ("CLEAN", "CLEAN"),
    ],
)  # fmt: skip
def test_a_choice_is_read(text: str, value: str) -> None:
    assert read(VISIT, text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("the second one", "CLEAN"), ("2", "CLEAN"), ("number 3", "PAIN"), ("the last one", "PAIN"), ("first", "CHECK")],
)
def test_an_option_is_chosen_by_its_position_in_the_list(text: str, value: str) -> None:
    listed = replace(BERLIN, listed_options=("CHECK", "CLEAN", "PAIN"))

    assert read(VISIT, text, listed).value == value
    assert not read(VISIT, text).has_value


def test_an_option_is_chosen_by_words_that_only_it_has() -> None:
    declared = {"x-options": [{"value": 1, "label": "1-hour lesson"}, {"value": 2, "label": "2-hour lesson"}]}

    assert read(declared, "just the 1 hour one to start with").value == 1
    assert read(declared, "a lesson, one that lasts an hour").outcome is not Outcome.VALUE


def test_two_options_that_are_equally_near_are_asked_back() -> None:
    declared = {"x-options": [{"value": 1, "label": "Basic plan"}, {"value": 2, "label": "Family plan"}]}

    assert read(declared, "plan").candidates == (1, 2)
    assert read(declared, "the family one").value == 2
    assert read(VISIT, "cleaning or check-up").candidates == ("CHECK", "CLEAN")


def test_digits_of_a_choice_are_equal() -> None:
    assert read({"enum": ["LC-40", "LC-60"]}, "LC-80").reason is Reason.NOT_AN_OPTION


@pytest.mark.parametrize(
    "text", ["not a cleaning", "what is a check-up?", "my tooth hurts since the cleaning", "I don't want a cleaning"]
)
def test_a_denial_and_a_question_are_no_choice(text: str) -> None:
    assert read(VISIT, text).outcome is Outcome.NOTHING


def test_what_is_no_option_is_refused_with_the_options() -> None:
    reading = read(VISIT, "root canal")

    assert (reading.reason, reading.data["options"]) == (Reason.NOT_AN_OPTION, ["Check-up", "Cleaning", "Pain"])


# --- phone, e-mail, post code, IBAN -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("020 7946 0018", "en-GB", "+442079460018"), ("my number is 07700 900123", "en-GB", "+447700900123"),
        ("0171 5550102", "de-DE", "+491715550102"), ("+49 171 555 01 02", "", "+491715550102"),
        ("(0044) 20 7946 0018", "en-GB", "+442079460018"), ("5550104477", "", "5550104477"),
    ],
)  # fmt: skip
def test_a_phone_number_is_read_by_country(text: str, locale: str, value: str) -> None:
    assert read({"format": "phone"}, text, replace(BERLIN, locale=locale)).value == value


def test_the_country_of_the_field_wins() -> None:
    assert read({"format": "phone", "x-country": "AT"}, "0664 1234567").value == "+436641234567"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("48392", Reason.TOO_SHORT), ("0207946", Reason.TOO_SHORT), ("020794600181234", Reason.TOO_LONG)],
)
def test_a_phone_number_is_refused(text: str, reason: Reason) -> None:
    assert read({"format": "phone"}, text).reason is reason


def test_an_address_is_read() -> None:
    assert read({"format": "email"}, "it's Anna@Example.ORG.").value == "Anna@example.org"
    assert read({"format": "email"}, "anna@").reason is Reason.INVALID_EMAIL
    assert read({"format": "email"}, "anna").outcome is Outcome.NOTHING


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("sw1a1aa", "en-GB", "SW1A 1AA"), ("10115", "de-DE", "10115"), ("D-10115 Berlin", "de-DE", "10115")],
)
def test_a_post_code_is_read_by_country(text: str, locale: str, value: str) -> None:
    assert read({"x-kind": "postcode"}, text, replace(BERLIN, locale=locale)).value == value


def test_a_wrong_post_code_is_refused() -> None:
    assert read({"x-kind": "postcode"}, "1011", GERMAN).reason is Reason.INVALID_POSTCODE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DE89 3704 0044 0532 0130 00", None), ("my IBAN is GB29 NWBK 6016 1331 9268 19", None),
        ("DE89370400440532013001", Reason.WRONG_CHECK_DIGITS), ("DE8937040044053201300", Reason.TOO_SHORT),
    ],
)  # fmt: skip
def test_an_iban_is_checked(text: str, reason: Reason | None) -> None:
    reading = read({"format": "iban"}, text)

    assert (reading.reason, reading.has_value) == (reason, reason is None)


# --- yes or no, text, pattern -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "value"), [("yes please", True), ("nope, leave it", False), ("looks good", True)])
def test_yes_and_no_are_read(text: str, value: bool) -> None:
    assert read({"type": "boolean"}, text).value is value


@pytest.mark.parametrize(
    ("text", "value"),
    [("John Smith", "John Smith"), ("my name is John Smith, thanks", "John Smith"), ("I'm John", "John")],
)
def test_a_name_is_read(text: str, value: str) -> None:
    assert read({"type": "string"}, text, name="fullName").value == value


@pytest.mark.parametrize("text", ["what is this?", "thanks", "no", "never mind", "how much is it", "…"])
def test_a_question_a_denial_and_thanks_are_no_free_text(text: str) -> None:
    assert read({"type": "string"}, text).outcome is Outcome.NOTHING


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the name's Bond, James Bond", "Bond, James Bond"), ("hi, John here", "John"), ("O'Hara", "O'Hara"),
        ("I don't want to say", None), ("none of your business", None), ("call 112 now", None), ("John?", None),
        ("John Smith and my number is 020 7946 0018", None), ("can I speak to a human", None),
    ],
)  # fmt: skip
def test_a_name_is_no_sentence(text: str, value: str | None) -> None:
    assert read({"type": "string"}, text, name="name").value == value


@pytest.mark.parametrize("text", ["no pain, just a check", "when I bite it hurts", "I'm in pain", "nothing special"])
def test_free_text_stays_as_written(text: str) -> None:
    assert read({"type": "string"}, text, name="reason").value == text


@pytest.mark.parametrize(
    ("text", "value"), [("nooo", False), ("yesss", True), ("noon", None), ("k", True), ("yes at 3", None), ("hm", None)]
)
def test_yes_and_no_are_short(text: str, value: bool | None) -> None:
    assert read({"type": "boolean"}, text).value is value


@pytest.mark.parametrize("text", ["not 020 7946 0018", "020 7946 0018 or 07911 123456", "3 December 2026"])
def test_a_phone_number_that_is_denied_or_not_the_only_one_is_not_read(text: str) -> None:
    assert read({"format": "phone"}, text).outcome is Outcome.NOTHING


def test_a_long_field_takes_a_question() -> None:
    assert read({"type": "string", "x-long": True}, "What about my tooth? It hurts.").has_value
    assert not read({"type": "string", "x-long": True}, "no").has_value


def test_the_length_of_a_text_is_checked() -> None:
    assert read({"type": "string", "minLength": 3}, "Al").reason is Reason.TOO_SHORT
    assert read({"type": "string", "maxLength": 3}, "Anna").reason is Reason.TOO_LONG


@pytest.mark.parametrize("text", ["ORD-20931", "ord-20931", "it's ord 20931", "my order is ORD-20931."])
def test_a_pattern_is_read_in_any_spelling(text: str) -> None:
    assert read({"type": "string", "pattern": r"^ORD-\d{4,6}$"}, text).value == "ORD-20931"


def test_another_form_is_refused() -> None:
    assert read({"type": "string", "pattern": r"^ORD-\d{4,6}$"}, "20931").reason is Reason.PATTERN_MISMATCH


# --- languages, limits, replays -----------------------------------------------------------------------------------


def test_the_second_language_reads_what_the_first_does_not() -> None:
    assert read({"format": "date"}, "übermorgen", replace(BERLIN, fallback_locale="de-DE")).value == "2026-11-26"
    assert not read({"format": "date"}, "übermorgen").has_value


@pytest.mark.parametrize(
    "kind", ["date", "time", "datetime", "duration", "number", "choice", "phone", "iban", "yes_no"]
)
def test_a_long_text_is_not_read(kind: Kind) -> None:
    assert read({"x-kind": kind, "x-currency": "EUR", **VISIT}, "next friday 12 december " * 40).outcome is (
        Outcome.NOTHING
    )


def test_dateparser_reads_from_the_clock_of_the_turn() -> None:
    later = replace(BERLIN, now=NOW.replace(year=2031))

    assert read({"format": "date"}, "3 weeks and 2 days from now").value == "2026-12-17"
    assert read({"format": "date"}, "3 weeks and 2 days from now", later).value == "2031-12-17"


@pytest.mark.parametrize(
    ("declared", "value", "locale", "text"),
    [
        ({"format": "date"}, "2026-11-27", "en-GB", "Friday 27 November 2026"),
        ({"format": "date"}, "2026-11-27", "en-US", "Friday, November 27, 2026"),
        ({"format": "date"}, "2026-11-27", "de-DE", "Freitag, 27. November 2026"),
        ({"format": "time"}, "16:30", "en-GB", "16:30"),
        ({"format": "time"}, "16:30", "en-US", "4:30 PM"),
        ({"format": "time"}, "16:30", "de-DE", "16:30 Uhr"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "en-GB", "Friday 27 November 2026, 16:00"),
        ({"format": "date-time"}, "2026-11-27T16:00:00+01:00", "de-DE", "Freitag, 27. November 2026, 16:00 Uhr"),
        ({"format": "duration"}, "PT1H30M", "en-GB", "1 hour and 30 minutes"),
        ({"format": "duration"}, "P2W", "de-DE", "2 Wochen"),
        ({"type": "number", "x-currency": "EUR"}, 1200.5, "en-GB", "€1,200.50"),
        ({"type": "number", "x-currency": "EUR"}, 1200.5, "de-DE", "1.200,50 €"),
        ({"type": "number", "x-currency": "CHF"}, 20, "de-CH", "CHF 20"),
        ({"type": "number"}, 1.5, "de-DE", "1,5"),
        (VISIT, "CLEAN", "en-GB", "Cleaning"),
        ({"type": "boolean"}, False, "de-DE", "nein"),
        ({"format": "phone"}, "+442079460018", "en-GB", "+44 20 7946 0018"),
        ({"format": "iban"}, "DE89370400440532013000", "en-GB", "DE89 3704 0044 0532 0130 00"),
        ({"type": "string"}, "John", "en-GB", "John"),
        ({"type": "string"}, None, "en-GB", ""),
        ({"format": "date"}, "not a date", "en-GB", "not a date"),
    ],
)
def test_a_confirmation_repeats_the_value_in_full(declared: dict[str, Any], value: Any, locale: str, text: str) -> None:
    assert say_value(field_spec("field", declared), value, locale) == text


@pytest.mark.parametrize(
    ("text", "situation", "value"),
    [
        ("thre", BERLIN, 3), ("elevn please", BERLIN, 11), ("eihgt", BERLIN, 8), ("sevn guests", BERLIN, 7),
        ("steven", BERLIN, None), ("tree", BERLIN, None), ("fine", BERLIN, None),
        ("zwlf", GERMAN, 12), ("fünff", GERMAN, 5), ("siben", GERMAN, 7), ("nein", GERMAN, None),
        ("Nina", GERMAN, None),
    ],
)  # fmt: skip
def test_a_number_word_with_a_typing_error_is_read_where_it_is_asked_for(
    text: str, situation: ReadingSituation, value: int | None
) -> None:
    asked = replace(situation, is_asked=True)

    assert read({"type": "integer", "title": "Guests"}, text, asked).value == value


@pytest.mark.parametrize(
    ("text", "situation", "value"),
    [("tomorow", BERLIN, "2026-11-25"), ("thrusday", BERLIN, "2026-11-26"), ("übermorgn", GERMAN, "2026-11-26")],
)
def test_a_word_for_a_day_is_read_with_a_typing_error(text: str, situation: ReadingSituation, value: str) -> None:
    assert read({"format": "date"}, text, situation).value == value


@pytest.mark.parametrize(("text", "value"), [("kayak", "K"), ("fotograph", "F"), ("kanu", None)])
def test_an_option_may_be_written_as_it_sounds(text: str, value: str | None) -> None:
    options = [{"value": "K", "label": "Kajak"}, {"value": "F", "label": "Photograph"}, {"value": "S", "label": "SUP"}]

    assert read({"x-options": options}, text).value == value
