from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from convengine.engine.forms.extract import Extraction, extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/London"))
OPTIONS = [
    {"value": "CLEAN", "label": "Cleaning", "synonyms": ["Zahnreinigung"]},
    {"value": "PAIN", "label": "Pain", "synonyms": ["toothache", "Zahnschmerzen"]},
]
DENTIST: dict[str, Any] = {
    "name": {"type": "string", "title": "Name"},
    "reason": {"type": "string", "x-options": OPTIONS},
    "date": {"type": "string", "format": "date", "x-min": "today", "x-max": "today+90d"},
    "time": {"type": "string", "format": "time", "x-min": "08:00", "x-max": "18:00"},
    "guests": {"type": "integer", "title": "Number of people", "x-labels": ["Personen"], "minimum": 1, "maximum": 8},
    "phone": {"type": "string", "format": "phone", "x-country": "GB"},
    "email": {"type": "string", "format": "email"},
}


def read(
    text: str, *, asked: str | None = None, locale: str = "en-GB", schema: Any = None, missing: Any = None
) -> Extraction:
    form = Form({"type": "object", "properties": schema or DENTIST})
    assert form.problem is None
    return extract(
        form,
        text,
        asked_paths=[asked] if asked else (),
        missing=missing,
        situation=ReadingSituation(NOW, "Europe/London", locale),
    )


def get_values(extraction: Extraction) -> dict[str, Any]:
    return {finding.field: finding.value for finding in extraction.extracted}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I need a cleaning next Monday at half past four for two people",
         {"reason": "CLEAN", "date": "2026-11-30", "time": "16:30", "guests": 2}),
        ("John Smith, tomorrow at 3, my number is 07700 900123",
         {"name": "John Smith", "date": "2026-11-25", "time": "15:00", "phone": "+447700900123"}),
        ("my name is John Smith and I'd like to come tomorrow", {"name": "John Smith", "date": "2026-11-25"}),
        ("can you fit me in on the 3rd of December? I have a toothache", {"date": "2026-12-03", "reason": "PAIN"}),
        ("how much is it? and tomorrow works", {"date": "2026-11-25"}),
        ("do you have time on Friday?", {"date": "2026-11-27"}),
        ("Monday 10am ann@example.org", {"date": "2026-11-30", "time": "10:00", "email": "ann@example.org"}),
        ("Friday, no, Saturday", {"date": "2026-11-28"}),
    ],
)  # fmt: skip
def test_a_sentence_gives_the_values_of_all_fields_in_it(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text)) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("brauche morgen um halb fünf einen Termin", {"date": "2026-11-25", "time": "16:30"}),
        ("ich heiße Paul Klein, Montag 10 Uhr, Zahnreinigung",
         {"name": "Paul Klein", "date": "2026-11-30", "time": "10:00", "reason": "CLEAN"}),
        ("am 5.12. um 17 Uhr für vier Personen", {"date": "2026-12-05", "time": "17:00", "guests": 4}),
        ("ich habe Zahnschmerzen, geht es übermorgen?", {"reason": "PAIN", "date": "2026-11-26"}),
    ],
)  # fmt: skip
def test_a_german_sentence_gives_the_values_of_all_fields_in_it(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, locale="de-DE")) == values


@pytest.mark.parametrize(
    "text",
    ["I can't come on Friday", "it hurt yesterday", "I have no pain", "what day is it today?", "not before Friday",
     "Friday or Saturday", "good morning", "for at least 3 people", "I was there on Monday", "thanks, see you Friday"],
)  # fmt: skip
def test_what_is_denied_asked_or_about_something_else_is_no_value(text: str) -> None:
    assert get_values(read(text)) == {}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("John Smith, tomorrow at 3pm", "en-GB", {"name": "John Smith", "date": "2026-11-25", "time": "15:00"}),
        ("John Smith tomorrow at 3pm please", "en-GB", {"name": "John Smith", "date": "2026-11-25", "time": "15:00"}),
        ("I need a cleaning tomorrow", "en-GB", {"reason": "CLEAN", "date": "2026-11-25"}),
        ("under Miller", "en-GB", {"name": "Miller"}),
        ("ich brauche einen Termin am Freitag", "de-DE", {"date": "2026-11-27"}),
        ("Anna Meier, am Freitag um 9 Uhr", "de-DE", {"name": "Anna Meier", "date": "2026-11-27", "time": "09:00"}),
        ("nein Dienstag", "de-DE", {}),
        ("yes thats right", "en-GB", {}),
        ("das stimmt", "de-DE", {}),
    ],
)
def test_the_asked_name_is_what_no_other_field_takes(text: str, locale: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, asked="name", locale=locale)) == values


def test_an_answer_with_more_gives_the_asked_field_and_the_others() -> None:
    assert get_values(read("the 3rd, for a cleaning", asked="date")) == {"date": "2026-12-03", "reason": "CLEAN"}


def test_a_field_with_a_value_keeps_it() -> None:
    assert get_values(read("Tuesday at 3pm for a cleaning", missing=["time"])) == {"time": "15:00"}


@pytest.mark.parametrize(
    ("text", "field", "reason"),
    [
        ("a cleaning on 30 February", "date", "INVALID_DATE"),
        ("a cleaning on 2019-12-01", "date", "OUT_OF_BOUNDS"),
        ("the date is 1 December 2019", "date", "OUT_OF_BOUNDS"),
        ("I could come tomorrow at 7pm", "time", "OUT_OF_BOUNDS"),
        ("tomorrow or rather on Friday", "date", None),
        ("next friday at 3pm", "date", "AMBIGUOUS"),
    ],
)
def test_a_value_that_is_refused_says_why(text: str, field: str, reason: str | None) -> None:
    reasons = {finding.field: finding.reason for finding in read(text).rejected}

    assert reasons.get(field) == reason


def test_two_values_of_one_field_are_asked_back() -> None:
    (refused,) = read("tomorrow with my wife, we also come Friday").rejected

    assert (refused.field, refused.reason) == ("date", "AMBIGUOUS")
    assert refused.data["candidates"] == ["2026-11-25", "2026-11-27"]


STAY = {"arrival": {"title": "Check-in", "format": "date"}, "departure": {"title": "Check-out", "format": "date"}}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("check-in on Friday, check-out on Sunday", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
        ("check-out tomorrow", {"departure": "2026-11-25"}),
    ],
)
def test_a_value_that_two_fields_could_take_goes_to_the_one_that_is_named(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=STAY)) == values


@pytest.mark.parametrize("text", ["I come on Friday", "a room for friday please"])
def test_a_day_that_nothing_names_is_the_first_of_two_open_ones(text: str) -> None:
    assert get_values(read(text, schema=STAY)) == {"arrival": "2026-11-27"}


def test_a_value_that_two_fields_could_take_goes_to_the_one_that_was_asked_for() -> None:
    assert get_values(read("I come on Friday", schema=STAY, asked="arrival")) == {"arrival": "2026-11-27"}


def test_a_text_after_its_label_ends_before_the_next_value() -> None:
    assert get_values(read("name: Ann Lee, tomorrow at 3pm")) == {
        "name": "Ann Lee", "date": "2026-11-25", "time": "15:00",
    }  # fmt: skip


def test_positions_are_those_of_the_message_also_with_separate_accents() -> None:
    text = "Cafe\u0301 tomorrow"
    (finding,) = read(text).extracted

    assert text[slice(*finding.span)] == "tomorrow"


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("from Friday to Sunday", "en-GB", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
        ("from 4 December until 7 December", "en-GB", {"arrival": "2026-12-04", "departure": "2026-12-07"}),
        ("von Freitag bis Sonntag", "de-DE", {"arrival": "2026-11-27", "departure": "2026-11-29"}),
    ],
)
def test_a_range_gives_two_fields_their_values(text: str, locale: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=STAY, locale=locale)) == values


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [("a room with breakfast", "en-GB", True), ("without breakfast please", "en-GB", False),
     ("mit Frühstück", "de-DE", True), ("ein Zimmer ohne Frühstück", "de-DE", False),
     ("do you have rooms with breakfast?", "en-GB", None), ("the breakfast", "en-GB", None)],
)  # fmt: skip
def test_with_and_without_answer_a_yes_or_no_field(text: str, locale: str, value: bool | None) -> None:
    schema = {"breakfast": {"type": "boolean", "title": "Breakfast", "x-labels": ["Frühstück"]}}

    assert get_values(read(text, schema=schema, locale=locale)).get("breakfast") is value


def test_a_bare_yes_is_no_answer_for_another_field() -> None:
    schema = {**STAY, "breakfast": {"type": "boolean"}}

    assert get_values(read("yes please", schema=schema, asked="arrival")) == {}


EVENT: dict[str, Any] = {
    "occasion": {
        "type": "string",
        "x-options": [{"value": "B", "label": "Birthday"}, {"value": "W", "label": "Wedding"}],
    },
    "guests": {"type": "integer", "title": "Guests", "x-ask": "How many guests do you expect?", "maximum": 200},
    "date": {"type": "string", "format": "date", "title": "Date", "x-min": "today"},
    "time": {"type": "string", "format": "time", "title": "Time", "x-min": "11:00", "x-max": "22:00"},
    "staff": {"type": "boolean", "title": "Serving staff"},
}


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("food for a birthday on 4 December for 20 people", "", {"occasion": "B", "date": "2026-12-04", "guests": 20}),
        ("my birthday was on 4 December", "", {"occasion": "B"}),
        ("the grandparents and the two of us, so 4", "guests", {"guests": 4}),
        ("a wedding, my parents and us, so 12", "occasion", {"occasion": "W", "guests": 12}),
        ("we are about 95 now", "guests", {"guests": 95}),
        ("now please", "time", {}),
        ("yes, for all 12 of us", "staff", {"staff": True, "guests": 12}),
        ("the wedding is on the 18th of January, so on the 10th of January", "date",
         {"occasion": "W", "date": "2027-01-10"}),
    ],
)  # fmt: skip
def test_people_say_more_than_they_were_asked(text: str, asked: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, asked=asked or None, schema=EVENT)) == values


@pytest.mark.parametrize(
    "text", ["Können Sie ein Sakko ändern?", "Kann ich ein Sakko kürzen lassen?", "Sakko kürzen lassen, geht das?"]
)
def test_a_german_request_names_a_choice(text: str) -> None:
    schema = {
        "item": {"type": "string", "x-options": [{"value": "J", "label": "Sakko"}, {"value": "H", "label": "Hose"}]}
    }

    assert get_values(read(text, schema=schema, locale="de-DE")) == {"item": "J"}


@pytest.mark.parametrize(("text", "day"), [("250 cards by 4 December", "2026-12-04"), ("not before 4 December", None)])
def test_a_limit_is_the_value_of_a_field_that_asks_for_it(text: str, day: str | None) -> None:
    schema = {"ready": {"type": "string", "format": "date", "title": "Ready by", "x-min": "today"}}

    assert get_values(read(text, schema=schema)).get("ready") == day


def test_the_name_of_an_animal_stands_behind_its_verb() -> None:
    schema = {"dog": {"type": "string", "title": "Name des Hundes", "x-ask": "Wie heißt Ihr Hund?"}}

    assert get_values(read("er heißt Rocky", asked="dog", schema=schema, locale="de-DE")) == {"dog": "Rocky"}


def test_years_ago_are_no_birthday() -> None:
    schema = {
        "known": {"type": "boolean", "title": "Waren Sie schon da"},
        "born": {"type": "string", "format": "date", "title": "Geburtsdatum", "x-max": "today"},
    }

    assert get_values(read("ja, vor drei Jahren", asked="known", schema=schema, locale="de-DE")) == {"known": True}


def test_a_time_stands_behind_the_first_day_of_a_range() -> None:
    schema = {
        "from": {"type": "string", "format": "date", "title": "Pick-up date", "x-min": "today"},
        "at": {"type": "string", "format": "time", "title": "Pick-up time"},
        "to": {"type": "string", "format": "date", "title": "Return date", "x-min": "today"},
    }
    values = {"from": "2026-12-16", "at": "09:00", "to": "2026-12-18"}

    assert get_values(read("a car from 16 December 9am to 18 December", schema=schema)) == values


@pytest.mark.parametrize("text", ["it is an old upright", "I need the uprigth tuned"])
def test_a_described_or_mistyped_choice_is_that_choice(text: str) -> None:
    schema = {
        "kind": {"type": "string", "x-options": [{"value": "U", "label": "Upright"}, {"value": "G", "label": "Grand"}]}
    }

    assert get_values(read(text, asked="kind", schema=schema)) == {"kind": "U"}


CLEANING: dict[str, Any] = {
    "area": {"type": "integer", "title": "Größe in Quadratmetern", "x-ask": "Wie viele Quadratmeter?", "maximum": 400},
    "guests": {"type": "integer", "title": "Group size", "x-ask": "How many are you?", "minimum": 5},
    "length": {"type": "string", "x-kind": "duration", "title": "Hours", "x-ask": "How long will it take?"},
    "start": {"type": "string", "format": "time", "title": "Start", "x-min": "08:00", "x-max": "18:00"},
    "note": {"type": "string", "title": "Writing", "x-ask": "Should we write anything on it?"},
}


@pytest.mark.parametrize(
    ("text", "locale", "asked", "values"),
    [
        ("78, ach nein 87", "de-DE", "area", {"area": 87}),
        ("90 Quadratmeter, ach nein, 95", "de-DE", "area", {"area": 95}),
        ("6, no wait, 7", "en-GB", "guests", {"guests": 7}),
        ("ok we'll bring friends, 6", "en-GB", "guests", {"guests": 6}),
        ("3h", "en-GB", "length", {"length": "PT3H"}),
        ("all day, 8 hours", "en-GB", "length", {"length": "PT8H"}),
        ("half a day, so 4 hours", "en-GB", "length", {"length": "PT4H"}),
        ("give me 5 minutes", "en-GB", "start", {}),
        ("Well done Sam", "en-GB", "note", {"note": "Well done Sam"}),
        ("Just married", "en-GB", "note", {"note": "Just married"}),
    ],
)
def test_the_value_that_is_meant_is_read(text: str, locale: str, asked: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, asked=asked, schema=CLEANING, locale=locale)) == values


@pytest.mark.parametrize("text", ["do you have tours in German?", "haben Sie Führungen in German?"])
def test_a_question_that_begins_a_form_names_a_choice(text: str) -> None:
    language = {
        "type": "string",
        "x-options": [{"value": "de", "label": "German"}, {"value": "en", "label": "English"}],
    }
    schema = {"language": language, "name": {"type": "string", "title": "Name"}}

    assert get_values(read(text, schema=schema, missing=["language", "name"])) == {"language": "de"}
    assert get_values(read("which of them is in German?", schema=schema, missing=["language", "name"])) == {}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cleaning, Ann Bell, ann@example.org", "Ann Bell"),
        ("ann bell ann@example.org", "ann bell"),
        ("Ann Bell 07700 900123", "Ann Bell"),
        ("a cleaning, tomorrow at 3, Ann Bell", "Ann Bell"),
        ("a cleaning, tomorrow at 3, big pain", None),
        ("tomorrow, New Filling", None),
        ("is Ann Bell there, ann@example.org?", None),
        ("Home Phone, 07700 900123", None),
        ("Email Address: ann@example.org", None),
        ("Next Week, 07700 900123", None),
        ("New York, 07700 900123", None),
    ],
)
def test_a_name_may_stand_between_other_values(text: str, name: str | None) -> None:
    assert get_values(read(text)).get("name") == name


PLACE_AND_NAME: dict[str, Any] = {
    "place": {"type": "string", "title": "Pick-up address"},
    "name": {"type": "string", "title": "Name"},
    "time": DENTIST["time"],
    "guests": DENTIST["guests"],
    "phone": DENTIST["phone"],
}


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("King's Cross at 5pm for 3 people", "place", {"place": "King's Cross", "time": "17:00", "guests": 3}),
        ("King's Cross, 07700 900123", "place", {"place": "King's Cross"}),
        ("12 Mill Lane, Ann Bell, 07700 900123", "place", {"name": "Ann Bell", "phone": "+447700900123"}),
        ("5pm, 3 people, Park Lane", None, {"time": "17:00", "guests": 3}),
    ],
)
def test_words_that_may_answer_another_text_are_no_name(text: str, asked: str | None, values: dict[str, Any]) -> None:
    form = Form({"type": "object", "properties": PLACE_AND_NAME, "required": ["place", "name"]})
    situation = ReadingSituation(NOW, "Europe/London", "en-GB")
    got = get_values(extract(form, text, asked_paths=[asked] if asked else (), situation=situation))
    assert got.items() >= values.items()
    assert ("name" in got) == ("name" in values)


@pytest.mark.parametrize(
    ("text", "guests"), [("2 women and 2 men", 4), ("two girls and one boy", 3), ("2 adults and 2 boys", 4)]
)
def test_two_counts_of_persons_are_summed(text: str, guests: int) -> None:
    assert get_values(read(text, asked="guests"))["guests"] == guests


@pytest.mark.parametrize("words", ["Festnetz Nummer", "Liebe Grüße", "Schönen Tag"])
def test_a_label_or_a_greeting_in_german_is_no_name(words: str) -> None:
    assert "name" not in get_values(read(f"{words}, ann@example.org", locale="de-DE"))


def test_a_text_ends_before_the_word_that_leads_to_another_value() -> None:
    schema = {"pickup": {"type": "string"}, "date": {"type": "string", "format": "date"}}

    values = get_values(read("12 Mill Lane for tomorrow", asked="pickup", schema=schema))
    assert values == {"pickup": "12 Mill Lane", "date": "2026-11-25"}


@pytest.mark.parametrize(
    ("title", "locale", "text", "value"),
    [
        ("Größe", "de-DE", "die Größe weiß ich noch nicht", None),
        ("Größe", "de-DE", "nein, die Größe ist falsch", None),
        ("Größe", "de-DE", "Größe", None),
        ("Größe", "de-DE", "die Größe groß", "L"),
        ("Größe", "de-DE", "große", "L"),
        ("Art", "de-DE", "die Größe", "L"),
    ],
)
def test_the_title_of_a_field_is_none_of_its_options(title: str, locale: str, text: str, value: str | None) -> None:
    options = [{"value": "S", "label": "klein"}, {"value": "L", "label": "groß", "synonyms": ["große"]}]
    field = {"type": "string", "title": title, "enum": ["S", "L"], "x-options": options}
    form = Form({"type": "object", "properties": {"size": field, "name": {"type": "string"}}, "required": ["size"]})
    now = datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/Berlin"))

    for asked in (["size"], []):
        extraction = extract(form, text, situation=ReadingSituation(now, "Europe/Berlin", locale), asked_paths=asked)
        assert get_values(extraction) == ({"size": value} if value else {})


PITCH: dict[str, Any] = {
    "arrival": {"type": "string", "format": "date", "title": "Arrival", "x-labels": ["Anreise"], "x-min": "today"},
    "nights": {"type": "integer", "title": "Nights", "x-ask": "How many nights?", "minimum": 1},
}
DAY: dict[str, Any] = {"day": {"type": "string", "format": "date", "title": "Day", "x-min": "today"}}


@pytest.mark.parametrize(
    ("text", "schema", "locale"),
    [
        ("a cabin for us, 3rd to 7th March", PITCH, "en-GB"),
        ("from the 3rd until the 7th of March", PITCH, "en-GB"),
        ("3-7 March would be great", DAY, "en-GB"),
        ("ein Stellplatz vom 3. bis 7. März", PITCH, "de-DE"),
        ("3.3. bis 7.3.", DAY, "de-DE"),
    ],
)
def test_the_only_date_field_takes_the_first_day_of_a_range(text: str, schema: Any, locale: str) -> None:
    field = next(iter(schema))
    assert get_values(read(text, schema=schema, locale=locale)) == {field: "2027-03-03"}
    assert get_values(read(text, schema=schema, locale=locale, asked=field)) == {field: "2027-03-03"}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("I'm away from 3 to 7 March", "en-GB"),
        ("between the 3rd and the 7th of March", "en-GB"),
        ("not from 3 to 7 March", "en-GB"),
        ("from Monday to Friday", "en-GB"),
        ("3 March 10-12", "en-GB"),
        ("vom 3. bis 7. März sind wir im Urlaub", "de-DE"),
        ("zwischen dem 3. und dem 7. März", "de-DE"),
    ],
)
def test_a_range_that_names_no_first_day_gives_none(text: str, locale: str) -> None:
    assert get_values(read(text, schema=DAY, locale=locale)) == {}


CLOCK: dict[str, Any] = {"time": {"type": "string", "format": "time", "x-min": "09:00", "x-max": "18:00"}}


@pytest.mark.parametrize(
    ("text", "time", "locale"),
    [
        ("4ish in the afternoon", "16:00", "en-GB"),
        ("fourish", "16:00", "en-GB"),
        ("around elevenish", "11:00", "en-GB"),
        ("5-ish pm", "17:00", "en-GB"),
        ("2pmish", "14:00", "en-GB"),
        ("so gegen 4", "16:00", "de-DE"),
        ("so um vier rum", "16:00", "de-DE"),
    ],
)
def test_an_approximate_time_is_a_time(text: str, time: str, locale: str) -> None:
    assert get_values(read(text, schema=CLOCK, locale=locale, asked="time")) == {"time": time}


@pytest.mark.parametrize(
    ("text", "known", "value", "locale"),
    [
        ("9:40", "2026-12-03[0-12]", "2026-12-03T09:40:00+00:00", "en-GB"),
        ("quarter past 8", "2026-12-03[12-24]", "2026-12-03T20:15:00+00:00", "en-GB"),
        ("15:20", "2026-12-03[0-12]", "2026-12-03T15:20:00+00:00", "en-GB"),
        ("halb vier", "2026-12-03[12-24]", "2026-12-03T15:30:00+00:00", "de-DE"),
    ],
)
def test_the_half_of_the_day_beside_a_day_holds_for_the_time_that_follows(
    text: str, known: str, value: str, locale: str
) -> None:
    form = Form({"type": "object", "properties": {"at": {"type": "string", "format": "date-time", "title": "Visit"}}})
    situation = ReadingSituation(NOW, "Europe/London", locale, known_part=known)
    assert get_values(extract(form, text, asked_paths=["at"], situation=situation)) == {"at": value}


SWIMMER: dict[str, Any] = {
    "child": {"type": "string", "title": "Child", "x-ask": "What is your child's name?"},
    "parent": {"type": "string", "title": "Your name", "x-ask": "And your name?"},
    "age": {"type": "integer", "title": "Age", "minimum": 3, "maximum": 16},
    "level": {
        "type": "string",
        "title": "Level",
        "x-options": [
            {"value": "BEGINNER", "label": "Beginner", "synonyms": ["never swum", "can't swim"]},
            {"value": "CLUB", "label": "Club swimmer"},
        ],
    },
}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("my son is called Oscar, he's 8 and wants to learn", {"child": "Oscar", "age": 8}),
        ("my daughter's name is Lily Rose and she is 7", {"child": "Lily Rose", "age": 7}),
        ("I'd like lessons for my daughter Lily", {"child": "Lily"}),
        ("I'd like lessons for my daughter on Friday", {}),
        ("her name is ivy", {"child": "ivy"}),
        ("her name is hard to spell", {}),
        ("his name is on the list", {}),
        ("my name is Ann Bell and my son is called Tom", {"child": "Tom", "parent": "Ann Bell"}),
    ],
)
def test_an_introduced_name_belongs_to_the_user_or_to_somebody_else(text: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=SWIMMER)) == values


@pytest.mark.parametrize("text", ["Tom, my son", "Tom my son", "it's my son Tom", "my son's called Tom"])
def test_who_somebody_is_belongs_to_no_name(text: str) -> None:
    assert get_values(read(text, schema=SWIMMER, asked="child")) == {"child": "Tom"}


def test_a_german_sentence_introduces_somebody_else() -> None:
    schema = {
        "kind": {"type": "string", "title": "Kind", "x-ask": "Wie heißt Ihr Kind?"},
        "name": {"type": "string", "title": "Name", "x-ask": "Und wie ist Ihr Name?"},
    }

    found = read("ich heiße Jana Wolff, meine Tochter heißt Lena", schema=schema, locale="de-DE")

    assert get_values(found) == {"kind": "Lena", "name": "Jana Wolff"}


@pytest.mark.parametrize("text", ["she's never swum before", "he cant swim yet", "never swum", "she can't swim"])
def test_an_option_may_deny_something_itself(text: str) -> None:
    assert get_values(read(text, schema=SWIMMER, asked="level")) == {"level": "BEGINNER"}


HIRE: dict[str, Any] = {
    "day": {"type": "string", "format": "date", "title": "Delivery", "x-min": "today"},
    "weeks": {"type": "integer", "title": "Weeks", "minimum": 1, "maximum": 6},
}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("a skip from the 9th for 3 weeks", "en-GB", {"day": "2026-12-09", "weeks": 3}),
        ("einen Container ab dem 9. Dezember für 3 Wochen", "de-DE", {"day": "2026-12-09"}),
        ("my birthday party is on the 9th, so the day before", "en-GB", {"day": "2026-12-08"}),
        ("am 9. hab ich Geburtstag, also den Tag davor", "de-DE", {"day": "2026-12-08"}),
        ("14 December is her birthday, the day after that please", "en-GB", {"day": "2026-12-15"}),
        ("the party is on the 20th, day before please", "en-GB", {"day": "2026-12-19"}),
        ("4 December, my wedding is the day after", "en-GB", {"day": "2026-12-04"}),
        ("4 December, the wedding's the day after", "en-GB", {"day": "2026-12-04"}),
        ("am 4. Dezember, die Feier ist am Tag danach", "de-DE", {"day": "2026-12-04"}),
        ("I need it by 4 December", "en-GB", {"day": "2026-12-04"}),
        ("we're away until 4 December", "en-GB", {}),
        ("let me know by 4 December", "en-GB", {}),
    ],
)
def test_a_day_stands_beside_a_length_or_another_day(text: str, locale: str, values: dict[str, Any]) -> None:
    assert get_values(read(text, schema=HIRE, locale=locale, asked="day")) == values


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("6 if that's the most", "en-GB"),
        ("6 will be enough", "en-GB"),
        ("6 reichen", "de-DE"),
        ("6, wenn mehr nicht geht", "de-DE"),
    ],
)
def test_what_is_said_about_a_number_changes_nothing(text: str, locale: str) -> None:
    assert get_values(read(text, schema=HIRE, locale=locale, asked="weeks")) == {"weeks": 6}


def test_the_code_of_an_option_is_no_small_word_of_a_sentence() -> None:
    options = [{"value": "um", "label": "Ummeldung"}, {"value": "ab", "label": "Abmeldung"}]
    schema = {"was": {"type": "string", "x-options": options}, "zeit": {"type": "string", "format": "time"}}

    assert get_values(read("um 10:30 bitte einen Termin", schema=schema, locale="de-DE")) == {"zeit": "10:30"}


@pytest.mark.parametrize(
    ("text", "locale", "question", "floor"),
    [
        ("im 1. Stock, nein im 3.", "de-DE", "In welchem Stock wohnen Sie?", 3),
        ("wir wohnen im ersten stock, quatsch, im dritten", "de-DE", "In welchem Stock wohnen Sie?", 3),
        ("im 6. OG", "de-DE", "In welchem Stock wohnen Sie?", 6),
        ("wohne im 6. og links", "de-DE", "In welchem Stockwerk wohnen Sie?", 6),
        ("6. etage", "de-DE", "In welchem Stock wohnen Sie?", 6),
        ("on the 1st floor, no, the 3rd", "en-GB", "Which floor do you live on?", 3),
        ("we live on the first floor, sorry, the third", "en-GB", "Which floor do you live on?", 3),
        ("6th fl", "en-GB", "Which floor do you live on?", 6),
        ("6th storey", "en-GB", "Which floor do you live on?", 6),
    ],
)
@pytest.mark.parametrize("asked", ["floor", None])
def test_a_floor_has_short_names_and_is_corrected(
    text: str, locale: str, question: str, floor: int, asked: str | None
) -> None:
    schema = {"floor": {"type": "integer", "title": "Stockwerk" if locale == "de-DE" else "Floor", "x-ask": question}}

    assert get_values(read(text, asked=asked, locale=locale, schema=schema)) == {"floor": floor}


@pytest.mark.parametrize(
    ("text", "locale", "question", "time"),
    [
        ("ab 14 uhr", "de-DE", "Ab wie viel Uhr brauchen Sie den Raum?", "14:00"),
        ("so ab halb drei", "de-DE", "Ab wann brauchen Sie den Raum?", "14:30"),
        ("so ab 2", "de-DE", "Ab wann brauchen Sie den Raum?", "14:00"),
        ("from 2pm", "en-GB", "From what time do you need the room?", "14:00"),
    ],
)
def test_where_the_question_asks_from_when_a_from_gives_the_time(
    text: str, locale: str, question: str, time: str
) -> None:
    bounds = {"x-min": "08:00", "x-max": "18:00"}
    schema = {"time": {"type": "string", "format": "time", "title": "Time", "x-ask": question, **bounds}}

    assert get_values(read(text, asked="time", locale=locale, schema=schema)) == {"time": time}


@pytest.mark.parametrize(("text", "locale"), [("20.11", "de-DE"), ("14.12", "de-DE"), ("20/12", "en-GB")])
def test_a_day_of_a_month_is_no_time_where_a_day_is_asked(text: str, locale: str) -> None:
    schema = {**DENTIST, "date": {"type": "string", "format": "date"}}

    assert list(get_values(read(text, asked="date", locale=locale, schema=schema))) == ["date"]


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("my dog is called Rex", "en-GB", {}),
        ("our cat's name is Mia", "en-GB", {}),
        ("my husband is called Tom", "en-GB", {}),
        ("my dog is called Rex and my son is called Ben", "en-GB", {"child": "Ben"}),
        ("her name is Lea", "en-GB", {"child": "Lea"}),
        ("my son is called Ben", "en-GB", {"child": "Ben"}),
        ("mein Hund heißt Rex", "de-DE", {}),
        ("unsere katze heißt mia", "de-DE", {}),
        ("mein mann heißt tom", "de-DE", {}),
        ("meine tochter heißt lea", "de-DE", {"child": "lea"}),
    ],
)
def test_a_name_of_another_kind_is_none_for_the_field(text: str, locale: str, values: dict[str, str]) -> None:
    title, question = ("Child's name", "What is your child's name?")
    if locale == "de-DE":
        title, question = ("Name des Kindes", "Wie heißt Ihr Kind?")
    schema = {
        "child": {"type": "string", "title": title, "x-ask": question},
        "name": {"type": "string", "title": "Name", "x-ask": "What is your name?"},
    }

    assert get_values(read(text, asked="child", locale=locale, schema=schema)) == values


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("ich bins nochmal, Jens Kraft", "de-DE", "Jens Kraft"),
        ("bitte auf Kraft eintragen", "de-DE", "Kraft"),
        ("der Jens", "de-DE", "Jens"),
        ("it's me again, Paul Klein", "en-GB", "Paul Klein"),
    ],
)
def test_small_words_around_a_name_are_no_part_of_it(text: str, locale: str, name: str) -> None:
    assert get_values(read(text, asked="name", locale=locale, missing=["name"])) == {"name": name}


@pytest.mark.parametrize(
    ("text", "locale", "guests"),
    [
        ("zwei und ein kleinkind", "de-DE", 3),
        ("drei plus baby", "de-DE", 4),
        ("ich komm mit 3 freunden", "de-DE", 4),
        ("2 erw und 1 kind", "de-DE", 3),
        ("vierköpfige familie", "de-DE", 4),
        ("ne person", "de-DE", 1),
        ("two and a toddler", "en-GB", 3),
        ("the two of us and a baby", "en-GB", 3),
        ("I'm coming with 3 friends", "en-GB", 4),
        ("2 and a baby seat", "en-GB", 2),
        ("3 with my brother", "en-GB", 3),
    ],
)
def test_people_who_are_added_to_a_number_count(text: str, locale: str, guests: int) -> None:
    assert get_values(read(text, asked="guests", locale=locale, missing=["guests"])) == {"guests": guests}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("tisch für 5 morgen um 14 uhr", "de-DE", {"guests": 5, "date": "2026-11-25", "time": "14:00"}),
        ("für fr 27.11. 15:30 6 pers", "de-DE", {"guests": 6, "date": "2026-11-27", "time": "15:30"}),
        ("table for 5 tomorrow at 2pm", "en-GB", {"guests": 5, "date": "2026-11-25", "time": "14:00"}),
        ("for fri 27/11 15:30 6 people", "en-GB", {"guests": 6, "date": "2026-11-27", "time": "15:30"}),
    ],
)
def test_a_number_beside_a_day_or_a_time_counts_people(text: str, locale: str, values: dict[str, Any]) -> None:
    schema = {key: DENTIST[key] for key in ("date", "time")}
    guests = {"type": "integer", "title": "Personen" if locale == "de-DE" else "Number of people", "maximum": 8}

    assert get_values(read(text, locale=locale, schema={"guests": guests, **schema})) == values


@pytest.mark.parametrize(
    ("text", "locale", "when"),
    [
        ("for the van on 1 December, but at 11 o'clock please", "en-GB", "2026-12-01T11:00:00+00:00"),
        ("Saturday if possible, at 11am", "en-GB", "2026-11-28T11:00:00+00:00"),
        ("at 4pm if that's ok, on Friday", "en-GB", "2026-11-27T16:00:00+00:00"),
        ("auch am 1.12. aber um 11 Uhr", "de-DE", "2026-12-01T11:00:00+00:00"),
        ("am Samstag wenn es geht, so gegen 11 Uhr", "de-DE", "2026-11-28T11:00:00+00:00"),
        ("wendesday at 4pm", "en-GB", "2026-11-25T16:00:00+00:00"),
        ("on the 3rd of decmeber at 10am", "en-GB", "2026-12-03T10:00:00+00:00"),
        ("sammstag 10 uhr", "de-DE", "2026-11-28T10:00:00+00:00"),
        ("am 3. dezmber um 10 uhr", "de-DE", "2026-12-03T10:00:00+00:00"),
        ("donerstag um halb drei", "de-DE", "2026-11-26T14:30:00+00:00"),
    ],
)
def test_a_moment_may_have_its_halves_apart_and_a_typing_error(text: str, locale: str, when: str) -> None:
    schema = {"when": {"type": "string", "format": "date-time", "x-min": "today"}, "name": {"type": "string"}}

    for asked in ("when", "name"):
        assert get_values(read(text, asked=asked, locale=locale, schema=schema))["when"] == when


@pytest.mark.parametrize(("text", "locale"), [("a knickerbocker sundae", "en-GB"), ("ein alter Jaguar", "de-DE")])
def test_words_that_are_like_a_day_name_none(text: str, locale: str) -> None:
    schema = {"when": {"type": "string", "format": "date-time"}, "day": {"type": "string", "format": "date"}}

    assert not read(text, locale=locale, schema=schema).extracted


def make_things(titles: dict[str, tuple[str, str]]) -> dict[str, Any]:
    things = {name: {"type": "boolean", "title": title, "x-ask": ask} for name, (title, ask) in titles.items()}
    return things | {
        "day": {"type": "string", "format": "date", "title": "Day"},
        "time": {"type": "string", "format": "time", "title": "Time"},
    }


THINGS = {
    "en-GB": make_things(
        {
            "double": ("Double lesson", "Shall it be a double lesson?"),
            "helmet": ("Helmet", "Do you need a helmet?"),
            "alcohol": ("Alcohol", "Will alcohol be served?"),
            "breakfast": ("Breakfast", "Would you like breakfast?"),
        }
    ),
    "de-DE": make_things(
        {
            "double": ("Doppelstunde", "Soll es eine Doppelstunde sein?"),
            "helmet": ("Helm", "Brauchen Sie einen Helm?"),
            "breakfast": ("Frühstück", "Möchten Sie Frühstück?"),
        }
    ),
}


@pytest.mark.parametrize(
    ("locale", "text", "values"),
    [
        ("en-GB", "I'd like to book a double lesson for Monday", {"double": True}),
        ("en-GB", "double lesson thursday 4pm", {"double": True}),
        ("en-GB", "a helmet and breakfast please", {"helmet": True, "breakfast": True}),
        ("en-GB", "we will serve alcohol, from 6pm", {"alcohol": True}),
        ("en-GB", "on Thursday there will be alcohol", {"alcohol": True}),
        ("en-GB", "with breakfast on Thursday, no alcohol", {"breakfast": True, "alcohol": False}),
        ("en-GB", "yes there will be wine", {}),
        ("en-GB", "what is a double lesson?", {}),
        ("en-GB", "at breakfast on Thursday", {}),
        ("en-GB", "my helmet is broken", {}),
        ("en-GB", "a double lesson would be too long", {}),
        ("en-GB", "a double lesson or a single one on Thursday", {}),
        ("en-GB", "I'd like a quote for a double lesson", {}),
        ("en-GB", "if I need a helmet I will say so", {}),
        ("en-GB", "I had a double lesson on Thursday", {}),
        ("en-GB", "I want to cancel the double lesson", {}),
        ("de-DE", "ich bräuchte am Donnerstag um 16 Uhr eine Doppelstunde", {"double": True}),
        ("de-DE", "eine Doppelstunde hätte ich gern am Donnerstag", {"double": True}),
        ("de-DE", "am Donnerstag eine Doppelstunde, ohne Frühstück", {"double": True, "breakfast": False}),
        ("de-DE", "Helm und Frühstück bitte", {"helmet": True, "breakfast": True}),
        ("de-DE", "eine Doppelstunde ist mir zu lang", {}),
        ("de-DE", "ich habe eine Doppelstunde am Donnerstag", {}),
        ("de-DE", "zum Frühstück am Donnerstag", {}),
        ("de-DE", "letztes Mal hatte ich eine Doppelstunde", {}),
        ("de-DE", "wenn ich eine Doppelstunde brauche, melde ich mich", {}),
        ("de-DE", "eine Auskunft zur Doppelstunde", {}),
        ("de-DE", "mein Helm ist kaputt", {}),
    ],
)
def test_who_wishes_for_a_thing_by_its_name_says_yes(locale: str, text: str, values: dict[str, bool]) -> None:
    read_values = get_values(read(text, locale=locale, schema=THINGS[locale]))

    assert {name: value for name, value in read_values.items() if isinstance(value, bool)} == values


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("from 9 december until 16 december, Frank Otley", "en-GB", "Frank Otley"),
        ("9 december till 16 december, Frank Otley", "en-GB", "Frank Otley"),
        ("vom 9. Dezember bis zum 16. Dezember, Frank Otte", "de-DE", "Frank Otte"),
        ("from 9 december until 16 december, thanks", "en-GB", None),
    ],
)
def test_a_name_behind_two_days_is_read(text: str, locale: str, name: str | None) -> None:
    days = {"type": "string", "format": "date"}
    schema = {"start": days, "end": days, "name": {"type": "string", "title": "Name"}}

    assert get_values(read(text, asked="start", locale=locale, schema=schema)).get("name") == name
