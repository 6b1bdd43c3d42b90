import itertools
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.values import Reading, ReadingSituation, field_spec, find_values, read_value

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
BERLIN = ReadingSituation(NOW, "Europe/Berlin", "en-GB")
FIELDS: dict[str, dict[str, Any]] = {
    "date": {"format": "date"},
    "time": {"format": "time", "x-min": "08:00", "x-max": "18:00"},
    "reason": {
        "x-options": [
            {"value": "CHECK", "label": "Check-up"}, {"value": "CLEAN", "label": "Cleaning"},
            {"value": "PAIN", "label": "Pain", "synonyms": ["toothache", "Zahnschmerzen"]},
        ]
    },
    "phone": {"format": "phone"},
    "email": {"format": "email"},
    "guests": {"type": "integer"},
    "budget": {"type": "number", "x-currency": "EUR"},
    "order": {"type": "string", "pattern": r"^ORD-\d{4,6}$"},
    "iban": {"format": "iban"},
    "postcode": {"x-kind": "postcode"},
    "length": {"format": "duration"},
    "name": {"type": "string"},
    "agreed": {"type": "boolean"},
}  # fmt: skip
SPECS = [field_spec(name, declared) for name, declared in FIELDS.items()]


def describe(reading: Reading) -> Any:
    return reading.value if reading.has_value else list(reading.candidates) or f"!{reading.reason}"


def find(text: str, locale: str = "en-GB") -> dict[str, Any]:
    spans = find_values(SPECS, text, replace(BERLIN, locale=locale))
    return {name: describe(reading) for span in spans for name, reading in span.readings.items()}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "can I come tomorrow at 3pm for a check-up, my number is 020 7946 0018",
            {"date": "2026-11-25", "time": "15:00", "reason": "CHECK", "phone": "+442079460018"},
        ),
        ("I'd like a table for 4 people on Friday at 5pm", {"guests": 4, "date": "2026-11-27", "time": "17:00"}),
        ("is Friday at 4 ok for a cleaning?", {"date": "2026-11-27", "time": "16:00", "reason": "CLEAN"}),
        ("change it to friday at 16:30", {"date": "2026-11-27", "time": "16:30"}),
        ("can we meet on may 5th at 10am", {"date": "2027-05-05", "time": "10:00"}),
        ("come on the 5th please", {"date": "2026-12-05"}),
        ("not Friday but Saturday", {"date": "2026-11-28"}),
        ("do you have time next friday", {"date": ["2026-11-27", "2026-12-04"]}),
        ("30 february at 3pm", {"date": "!INVALID_DATE", "time": "15:00"}),
        ("tomorrow at 8pm", {"date": "2026-11-25", "time": "!OUT_OF_BOUNDS"}),
        ("I need a car for two weeks", {"length": "P2W"}),
        ("my budget is €1,200.50 and we are 5 guests", {"budget": 1200.5, "guests": 5}),
        ("order ORD-20931, please", {"order": "ORD-20931"}),
        ("send it to anna@example.org, SW1A 1AA", {"email": "anna@example.org", "postcode": "SW1A 1AA"}),
        ("my iban is DE89 3704 0044 0532 0130 00", {"iban": "DE89370400440532013000"}),
        ("I have a toothache", {"reason": "PAIN"}),
        ("a cleaning next monday at 10 if possible", {"reason": "CLEAN", "date": "2026-11-30", "time": "10:00"}),
        ("for 2 people tomorrow night at 6pm", {"guests": 2, "date": "2026-11-25", "time": "18:00"}),
        ("reservation for two tomorrow", {"guests": 2, "date": "2026-11-25"}),
        ("a table for 4", {"guests": 4}),
        ("a birthday party on Friday", {"date": "2026-11-27"}),
        ("table for two tonight at 5pm", {"guests": 2, "date": "2026-11-24", "time": "17:00"}),
        ("on the 5th of December, 2 people", {"date": "2026-12-05", "guests": 2}),
        ("I need a cleanin", {"reason": "CLEAN"}),
        ("can you fit me in today?", {"date": "2026-11-24"}),
        ("how about today", {"date": "2026-11-24"}),
        ("tonight at 6 please", {"date": "2026-11-24", "time": "18:00"}),
        ("change the date to the 5th", {"date": "2026-12-05"}),
        ("could we come the day after Boxing Day", {"date": "2026-12-27"}),
        ("a cleaning on the Tuesday after Easter please", {"reason": "CLEAN", "date": "2027-03-30"}),
        ("second saturday in february would suit us", {"date": "2027-02-13"}),
        ("we need decorations for a halloween party", {}),
        ("I'd come on the friday after my birthday", {}),
        ("are you open on the bank holiday monday", {}),
    ],
)
def test_values_are_found_in_a_sentence(text: str, values: dict[str, Any]) -> None:
    assert find(text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Kann ich morgen um 15 Uhr kommen, meine Nummer ist 0171 5550102",
            {"date": "2026-11-25", "time": "15:00", "phone": "+491715550102"},
        ),
        ("ich brauche einen Termin am Freitag um halb vier", {"date": "2026-11-27", "time": "15:30"}),
        ("nicht am Freitag, aber am Samstag", {"date": "2026-11-28"}),
        ("wir sind 4 Personen und kommen am 5.12. um 17 Uhr", {"guests": 4, "date": "2026-12-05", "time": "17:00"}),
        ("Mai Ling kommt am 3. Mai", {"date": "2027-05-03"}),
        ("ich habe Zahnschmerzen, geht es übermorgen 10:30?",
         {"reason": "PAIN", "date": "2026-11-26", "time": "10:30"}),
        ("ich wohne in Berlin, PLZ 10115", {"postcode": "10115"}),
        ("das kostet 20 Euro", {"budget": 20}),
        ("wir kommen zu viert am Freitag", {"guests": 4, "date": "2026-11-27"}),
        ("wir sind doch 3", {"guests": 3}),
    ],
)  # fmt: skip
def test_values_are_found_in_a_german_sentence(text: str, values: dict[str, Any]) -> None:
    assert find(text, "de-DE") == values


@pytest.mark.parametrize(
    "text",
    [
        "12", "I need 3 of them", "how are you today?", "I have been waiting since yesterday",
        "it hurt yesterday", "not before Friday", "no later than 5 December", "I was born on 3 March 1980",
        "Friday or Saturday", "between monday and friday", "from monday to friday", "from 3pm to 5pm",
        "I can't come on Friday", "Friday doesn't work for me", "I have no time on friday", "every Friday",
        "I'd like the 5th floor", "meet me at 3 Baker Street", "I sat on the sun lounger", "may I come?", "May Ling",
        "the second one", "see invoice INV-2024-35000", "my order X94678", "version 1.5", "20% off", "I have no pain",
        "I don't want a cleaning", "two weeks ago it broke", "I have 2 kids and 3 dogs", "call 112", "room 101",
        "I bought it two weeks ago", "a second opinion", "march on", "so what", "yes", "John Smith", "3 March Street",
        "my tooth broke this morning", "I was there on monday", "last monday I called you",
        "wait a minute", "give me 5 minutes", "one day", "20 minutes late", "what day is it today",
        "every second friday",
        "what time is it now", "I missed my appointment on friday", "my birthday is on 3 March", "see you tomorrow",
        "version 2.1.27", "thanks, see you friday", "good morning", "have a nice weekend", "unless friday",
        "that was on 3 March", "I am 35", "12345", "it is 1,200 km", "in a while", "Flight BA 1630", "24/7", "1/2",
    ],
)  # fmt: skip
def test_what_is_no_value_is_not_found(text: str) -> None:
    assert find(text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "guten Morgen", "guten Abend", "schönen Tag noch", "bis morgen", "letzten Montag",
        "am Montag war ich schon da", "mir geht es heute schlecht", "heute ist ein schöner Tag",
        "wie spät ist es jetzt",
        "was ist heute für ein Tag", "ich kann erst ab 16 Uhr", "zwischen 9 und 11", "der erste",
        "jeden zweiten Freitag",
        "wie geht es Ihnen heute?", "ich so: na gut", "bis Freitag", "von Montag bis Freitag", "am Freitag geht nicht",
        "ich habe seit gestern nichts gegessen", "nicht vor dem 5. Dezember", "Freitag oder Samstag", "Mai Ling",
        "die zweite", "im 5. Stock", "ich kann am Freitag nicht", "jeden Montag", "vor zwei Wochen", "das do it",
        "10115 Berlin", "1.5 Liter", "ich habe keine Zahnschmerzen", "die Rechnung vom 3.12. ist falsch",
    ],
)  # fmt: skip
def test_what_is_no_value_is_not_found_in_a_german_sentence(text: str) -> None:
    assert find(text, "de-DE") == {}


def test_spans_say_where_and_never_overlap() -> None:
    text = "Can I come tomorrow at 3pm for a check-up, my number is 020 7946 0018?"
    spans = find_values(SPECS, text, BERLIN)

    assert [text[span.start : span.end] for span in spans] == ["tomorrow", "at 3pm", "check-up", "020 7946 0018"]
    assert [span.field for span in spans] == ["date", "time", "reason", "phone"]
    assert all(first.end <= second.start for first, second in itertools.pairwise(spans))


def test_a_value_that_two_fields_could_take_names_both() -> None:
    specs = [field_spec("start", {"format": "date"}), field_spec("end", {"format": "date"})]
    (span,) = find_values(specs, "I'll come tomorrow", BERLIN)

    assert (list(span.readings), span.field) == (["start", "end"], None)


def test_a_field_may_occur_twice() -> None:
    spans = find_values(SPECS, "tomorrow. No, make it Saturday", BERLIN)

    assert [describe(span.readings["date"]) for span in spans] == ["2026-11-25", "2026-11-28"]


def test_a_long_message_is_read_to_its_limit() -> None:
    assert find_values(SPECS, "I would like to know something. " * 200 + "tomorrow", BERLIN) == []


def test_the_day_after_from_is_an_arrival_but_no_appointment() -> None:
    situation = ReadingSituation(NOW, locale="en-GB", is_asked=False)
    arrival, appointment = (field_spec(name, {"type": "string", "format": "date"}) for name in ("arrival", "day"))

    assert [
        span.readings["arrival"].value for span in find_values([arrival], "2 nights from 11 December", situation)
    ] == ["2026-12-11"]
    assert find_values([appointment], "any day from 11 December", situation) == []


def test_ten_uhr_is_in_the_morning_and_three_uhr_in_the_afternoon() -> None:
    pickup = field_spec("pickup", {"type": "string", "format": "date-time"})
    situation = ReadingSituation(NOW, "Europe/Berlin", "de-DE")

    assert read_value(pickup, "morgen um 10 Uhr", situation).value == "2026-11-25T10:00:00+01:00"
    assert read_value(pickup, "morgen um 3 Uhr", situation).value == "2026-11-25T15:00:00+01:00"


@pytest.mark.parametrize("text", ["-", "…", "?!", "...", "👍", "", " "])
def test_a_message_without_words_has_no_values(text: str) -> None:
    assert find(text) == {}


@pytest.mark.parametrize(("text", "guests"), [("a table for 8pm", None), ("for 8 on Friday", 8), ("for 8:30", None)])
def test_the_hour_of_a_time_counts_nobody(text: str, guests: int | None) -> None:
    spec = field_spec("guests", {"type": "integer"})
    spans = find_values([spec], text, BERLIN)

    assert [span.readings["guests"].value for span in spans] == ([] if guests is None else [guests])


COPIES = field_spec("copies", {"type": "integer", "title": "Copies", "x-ask": "How many do you need?"})
HOURS = field_spec("hours", {"type": "number", "title": "Hours", "x-ask": "For how many hours?"})
PICK_UP = field_spec("pickup", {"format": "date", "title": "Pick-up", "x-ask": "When will you collect it?"})
VISIT = field_spec("visit", {"format": "date", "title": "Visit", "x-ask": "When will you come?"})
BIKES = [{"value": "road", "label": "Road bike"}, {"value": "kids", "label": "Kids bike"}]
BIKE = field_spec("bike", {"x-options": BIKES})
PIANOS = [
    {"value": "baby_grand", "label": "Baby grand"},
    {"value": "grand", "label": "Concert grand", "synonyms": ["grand"]},
]
PIANO = field_spec("piano", {"x-options": PIANOS})
TENTS = [{"value": "gazebo", "label": "Pop-up gazebo", "synonyms": ["gazebo"]}, {"value": "garden", "label": "Garden"}]
TENT = field_spec("tent", {"x-options": TENTS})


@pytest.mark.parametrize(
    ("spec", "text", "value"),
    [
        (COPIES, "I'd like 4 pieces of that one", 4),
        (COPIES, "4 metres of that one", None),
        (HOURS, "we need it for an hour and a half", 1.5),
        (HOURS, "the hall for 2½ hours please", 2.5),
        (HOURS, "just half an hour", 0.5),
        (PICK_UP, "I need it by Saturday", "2026-11-28"),
        (VISIT, "I need it by Saturday", None),
        (BIKE, "my raod bike squeaks", "road"),
        (PIANO, "can you move my baby grnad on the 2nd", "baby_grand"),
        (PIANO, "it is a grnad with a stool", "grand"),
        (BIKE, "my bike squeaks", None),
        (TENT, "need to rent a gazbo for the 11th", "gazebo"),
        (TENT, "the gardn one please", "garden"),
        (TENT, "we gaze at the guards", None),
    ],
)
def test_a_field_says_what_a_number_a_day_or_a_typing_error_means(spec: Any, text: str, value: Any) -> None:
    spans = find_values([spec], text, BERLIN)

    assert [reading.value for span in spans for reading in span.readings.values()] == ([] if value is None else [value])


@pytest.mark.parametrize(
    ("declared", "known", "text", "value"),
    [
        ({"format": "date"}, "2026-12-07..2026-12-13", "Wednesday", "2026-12-09"),
        ({"format": "date"}, "2027-01-01..2027-01-31", "the 4th", "2027-01-04"),
        ({"format": "date"}, "2026-12-07..2026-12-13", "20 December", "2026-12-20"),
        ({"format": "date", "x-min": "1920-01-01", "x-max": "today"}, "2091-03-05", "oops, 1991", "1991-03-05"),
        ({"format": "date", "x-min": "1920-01-01", "x-max": "today"}, "", "5 March", None),
        ({"format": "date"}, "", "2028", None),
        ({"format": "time"}, "[12-24]", "3", "15:00"),
        ({"format": "time"}, "[12-24]", "11", None),
        ({"format": "time"}, "[0-12]", "half 9", "09:30"),
    ],
)
def test_an_answer_fills_in_what_the_one_before_left_open(
    declared: dict[str, Any], known: str, text: str, value: str | None
) -> None:
    assert read_value(field_spec("when", declared), text, replace(BERLIN, known_part=known)).value == value


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("a buffet please, birthday on 20 June 6pm", "en-GB", {"date": "2027-06-20", "time": "18:00"}),
        ("birthday of my sister on June 20", "en-GB", {"date": "2027-06-20"}),
        ("wir brauchen essen, geburtstag am 20. Juni 18 uhr", "de-DE", {"date": "2027-06-20", "time": "18:00"}),
        ("geburtstag meiner mutter am 20.6.", "de-DE", {"date": "2027-06-20"}),
        ("my birthday is on 20 June", "en-GB", {}),
        ("mein geburtstag ist am 20. Juni", "de-DE", {}),
    ],
)
def test_the_day_of_what_the_form_is_for_is_its_day(text: str, locale: str, values: dict[str, Any]) -> None:
    specs = [spec for spec in SPECS if spec.name == "date"] + [field_spec("time", {"format": "time"})]
    situation = replace(BERLIN, locale=locale, is_asked=False, subject_terms=frozenset({"birthday", "geburtstag"}))

    spans = find_values(specs, text, situation)

    assert {name: describe(value) for span in spans for name, value in span.readings.items()} == values


@pytest.mark.parametrize(
    ("text", "locale"), [("on 20 june 18, 40 people", "en-GB"), ("am 20. juni 18, danke", "de-DE")]
)
def test_a_month_behind_its_day_takes_no_other_number(text: str, locale: str) -> None:
    assert "date" not in find(text, locale)
