"""Numbers beside what they count, and things that are included, in sentences and in answers."""

from datetime import UTC, datetime
from typing import Any

import pytest

from convengine.engine.forms.extract import extract
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation

FORM = Form(
    {
        "type": "object",
        "properties": {
            "parcels": {"type": "integer", "title": "Number of parcels", "x-ask": "How many parcels are there?"},
            "size": {"type": "string", "x-options": [{"value": "large", "label": "Large"}]},
            "date": {"type": "string", "format": "date", "title": "Day"},
            "length": {"type": "string", "x-kind": "duration", "title": "How long"},
            "insured": {"type": "boolean", "title": "Insurance", "x-ask": "Do you want insurance?"},
        },
    }
)
NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("collect 3 large parcels tomorrow", "", {"parcels": 3, "size": "large", "date": "2026-11-25"}),
        ("two very heavy parcels please", "", {"parcels": 2}),
        ("for 4 hours, 80 parcels", "", {"parcels": 80, "length": "PT4H"}),
        ("just the 1", "parcels", {"parcels": 1}),
        ("2, a case and a box", "parcels", {"parcels": 2}),
        ("one suitcase", "parcels", {"parcels": 1}),
        ("two please, my own and my sister's", "parcels", {"parcels": 2}),
        ("9 Harp Hill", "parcels", {}),
        ("2 parcels, no insurance", "", {"parcels": 2, "insured": False}),
        ("with insurance", "", {"insured": True}),
        ("insurance too please", "", {"insured": True}),
        ("I don't need the insurance", "", {"insured": False}),
        ("do we need the insurance", "", {}),
    ],
)
def test_a_number_goes_to_the_field_that_counts_what_follows(text: str, asked: str, values: dict[str, Any]) -> None:
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", "en-GB")

    extraction = extract(FORM, text, asked_paths=[asked] if asked else [], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


PERSON = Form(
    {
        "type": "object",
        "properties": {
            "age": {"type": "integer", "title": "Age", "x-ask": "How old is the child?"},
            "grade": {"type": "integer", "title": "Class", "x-ask": "Which class is your child in?"},
            "players": {"type": "integer", "title": "Players", "x-ask": "How many of you are playing?"},
            "parking": {"type": "string", "enum": ["Yes", "No"]},
            "coach": {
                "type": "string",
                "x-options": [{"value": "j", "label": "Jonas Bachmann"}, {"value": "n", "label": "No preference"}],
            },
        },
    }
)


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("it's for me, I'm 42", "age", {"age": 42}),
        ("I'm 42 myself", "age", {"age": 42}),
        ("he just turned 9 last week", "age", {"age": 9}),
        ("my son is nine and very lively", "age", {"age": 9}),
        ("12 or 13, say 13", "age", {"age": 13}),
        ("she is in the 7th class", "grade", {"grade": 7}),
        ("two adults and a child, so 3", "players", {"players": 3}),
        ("we're five, my daughter is 8", "", {"players": 5, "age": 8}),
        ("we know Bachmann from last year", "coach", {"coach": "j"}),
        ("a lesson with Jonas", "", {"coach": "j"}),
        ("whoever is free", "coach", {"coach": "n"}),
        ("whatever", "parking", {}),
        ("don't mind", "parking", {}),
        ("not really", "parking", {"parking": "No"}),
        ("the 3rd please", "players", {}),
        ("call me on 07700900123", "players", {}),
    ],
)
def test_a_sentence_answers_the_question(text: str, asked: str, values: dict[str, Any]) -> None:
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", "en-GB")

    extraction = extract(PERSON, text, asked_paths=[asked] if asked else [], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


@pytest.mark.parametrize(("question", "value"), [("Für wie viele Personen?", 30), ("Wie viele kg?", None)])
def test_pieces_are_what_the_asked_field_counts(question: str, value: int | None) -> None:
    form = Form({"type": "object", "properties": {"count": {"type": "integer", "x-ask": question}}})
    situation = ReadingSituation(NOW, "Europe/Berlin", "de-DE")

    extraction = extract(form, "30 Stück", situation=situation, asked_paths=["count"])

    assert [item.value for item in extraction.extracted] == ([value] if value else [])


@pytest.mark.parametrize(
    ("text", "locale", "ticket"),
    [
        ("the slip says 52114", "en-GB", 52114),
        ("I have 52114 here", "en-GB", 52114),
        ("not 52114", "en-GB", None),
        ("it says 12", "en-GB", None),
        ("I live at 12000 Park Lane", "en-GB", None),
        ("we paid 20000 pounds", "en-GB", None),
        ("auf dem Zettel steht 52114", "de-DE", 52114),
    ],
)
def test_the_only_number_of_a_ticket_is_it(text: str, locale: str, ticket: int | None) -> None:
    field = {"type": "integer", "title": "Ticket", "minimum": 10000, "maximum": 99999}
    form = Form({"type": "object", "properties": {"ticket": field}})
    situation = ReadingSituation(NOW, "Europe/London", locale)
    extraction = extract(form, text, asked_paths=["ticket"], situation=situation)
    assert [finding.value for finding in extraction.extracted] == ([ticket] if ticket else [])


@pytest.mark.parametrize(
    ("text", "locale"),
    [("on 30 November at 9am, is a van", "en-GB"), ("am 30. November um 9 Uhr, ist ein Transporter", "de-DE")],
)
def test_what_is_told_behind_a_sign_denies_no_day(text: str, locale: str) -> None:
    properties = {"date": {"type": "string", "format": "date"}, "time": {"type": "string", "format": "time"}}
    form = Form({"type": "object", "properties": properties})
    extraction = extract(form, text, situation=ReadingSituation(NOW, "Europe/London", locale))
    assert {finding.field: finding.value for finding in extraction.extracted} == {"date": "2026-11-30", "time": "09:00"}


def read_count_of(question: str, text: str, locale: str) -> dict[str, Any]:
    schema = {"count": {"type": "integer", "title": question, "x-ask": question, "minimum": 1}}
    situation = ReadingSituation(NOW, "", locale)
    extraction = extract(
        Form({"type": "object", "properties": schema}), text, asked_paths=["count"], situation=situation
    )
    return {item.field: item.value for item in extraction.extracted}


@pytest.mark.parametrize(
    ("question", "text", "number", "locale"),
    [
        ("Which shelf?", "bay 14", 14, "en-GB"),
        ("Which shelf?", "ok row six please", 6, "en-GB"),
        ("Welche Etage?", "Stockwerk 3", 3, "de-DE"),
        ("Welche Etage?", "Nr. 12", 12, "de-DE"),
        ("How many chairs?", "30 to 40, put 40", 40, "en-GB"),
        ("How many chairs?", "50 or 60, just put 60", 60, "en-GB"),
        ("Wie viele Stühle?", "so 30 bis 40, nehmen Sie 40", 40, "de-DE"),
        ("Wie viele Stühle?", "5 oder 6, schreib 6", 6, "de-DE"),
    ],
)
def test_an_answer_names_its_number_or_settles_on_it(question: str, text: str, number: int, locale: str) -> None:
    assert read_count_of(question, text, locale) == {"count": number}


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("another 14", "en-GB"), ("over 14", "en-GB"), ("never 14", "en-GB"), ("bay 14?", "en-GB"),
        ("Friday 14", "en-GB"), ("30 to 40", "en-GB"), ("mindestens 14", "de-DE"), ("kein 14", "de-DE"),
        ("30 bis 40", "de-DE"),
    ],
)  # fmt: skip
def test_a_word_that_changes_a_number_names_none(text: str, locale: str) -> None:
    assert read_count_of("Which shelf?", text, locale) == {}


@pytest.mark.parametrize(
    ("text", "values", "locale"),
    [
        ("collect 2 large parcels, no wait 5", {"parcels": 5, "size": "large"}, "en-GB"),
        ("2 parcels tomorrow, sorry, make that 6 please", {"parcels": 6, "date": "2026-11-25"}, "en-GB"),
        ("3 large parcels on Friday, no wait Saturday", {"parcels": 3, "size": "large", "date": "2026-11-28"}, "en-GB"),
        ("2 large parcels, no wait", {"parcels": 2, "size": "large"}, "en-GB"),
        ("2 large parcels, wait 4 days", {"parcels": 2, "size": "large"}, "en-GB"),
        ("2 large parcels, no insurance", {"parcels": 2, "size": "large", "insured": False}, "en-GB"),
        ("3 parcels, ach nein 4", {"parcels": 4}, "de-DE"),
        ("3 parcels, quatsch 5 am Freitag", {"parcels": 5, "date": "2026-11-27"}, "de-DE"),
    ],
)
def test_a_value_replaces_the_one_before_it(text: str, values: dict[str, Any], locale: str) -> None:
    extraction = extract(FORM, text, situation=ReadingSituation(NOW, "", locale))
    assert {item.field: item.value for item in extraction.extracted} == values


def test_a_replacing_number_out_of_bounds_is_refused() -> None:
    schema = {"bags": {"type": "integer", "title": "Bags", "x-ask": "How many bags?", "maximum": 10}}
    form = Form({"type": "object", "properties": schema})
    extraction = extract(form, "2 bags, no wait 40", situation=ReadingSituation(NOW, "", "en-GB"))
    assert extraction.extracted == ()
    assert [item.reason for item in extraction.rejected] == ["VALUE_VIOLATES_SCHEMA"]


BUILDING = Form(
    {
        "type": "object",
        "properties": {
            "floor": {
                "type": "integer",
                "title": "Floor",
                "x-labels": ["Etage"],
                "x-ask": "Which floor?",
                "minimum": 0,
                "maximum": 12,
            },
            "boxes": {"type": "integer", "title": "Boxes", "x-ask": "How many boxes?"},
            "date": {"type": "string", "format": "date", "title": "Day"},
        },
    }
)


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("hi, the radiator in our flat on the seventh floor leaks", "", {"floor": 7}),
        ("come to the 2nd floor on the 5th", "", {"floor": 2, "date": "2026-12-05"}),
        ("oops, 8th floor. the door code is 31", "floor", {"floor": 8}),
        ("it's wedged up in the 6th", "floor", {"floor": 6}),
        ("6th storey", "floor", {"floor": 6}),
        ("that's the 2nd time", "floor", {}),
        ("2nd try", "floor", {}),
        ("it broke on the 6th of November", "floor", {}),
        ("between the 2nd and 3rd floor", "floor", {}),
        ("the second or third floor", "floor", {}),
        ("not the 2nd floor", "floor", {}),
        ("right above the 2nd floor", "", {}),
        ("my neighbour on the 4th floor has one", "", {}),
        ("the 2nd box is broken", "", {}),
        ("can you come on the 5th", "", {"date": "2026-12-05"}),
    ],
)
def test_an_ordinal_beside_its_noun_is_the_number_of_a_field(text: str, asked: str, values: dict[str, Any]) -> None:
    situation = ReadingSituation(NOW, "Europe/London", "en-GB", "en-GB")

    extraction = extract(BUILDING, text, asked_paths=[asked] if asked else [], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("guten Tag, in der 7. Etage links ist die Heizung kalt", "", {"floor": 7}),
        ("in die zweite Etage bitte am 5.", "", {"floor": 2, "date": "2026-12-05"}),
        ("ach quatsch, 8. Etage. Der Türcode ist 31", "floor", {"floor": 8}),
        ("die Kiste klemmt im 6.", "floor", {"floor": 6}),
        ("im 6. Obergeschoss", "floor", {"floor": 6}),
        ("das 2. Mal", "floor", {}),
        ("2. Versuch", "floor", {}),
        ("zwischen der 2. und 3. Etage", "floor", {}),
        ("zweite oder dritte Etage", "floor", {}),
        ("nicht in der 2. Etage", "floor", {}),
        ("gleich über der 2. Etage", "", {}),
        ("die Nachbarin in der 4. Etage hat auch eins", "", {}),
        ("am 5.", "", {"date": "2026-12-05"}),
    ],
)
def test_an_ordinal_beside_its_noun_is_a_number_in_german(text: str, asked: str, values: dict[str, Any]) -> None:
    situation = ReadingSituation(NOW, "Europe/Berlin", "de-DE", "de-DE")

    extraction = extract(BUILDING, text, asked_paths=[asked] if asked else [], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


@pytest.mark.parametrize(
    ("question", "text", "locale", "value"),
    [
        ("Which storey is your parcel on?", "hi, I live on the fourth storey and have no lift", "en-GB", 4),
        ("Which storey is your parcel on?", "my second parcel is still missing", "en-GB", None),
        ("In welchem Geschoss steht Ihr Paket?", "hallo, ich wohne im vierten Geschoss ohne Aufzug", "de-DE", 4),
        ("In welchem Geschoss steht Ihr Paket?", "mein zweites Paket fehlt noch", "de-DE", None),
    ],
)
def test_only_the_noun_that_a_question_asks_for_is_numbered(
    question: str, text: str, locale: str, value: int | None
) -> None:
    form = Form({"type": "object", "properties": {"level": {"type": "integer", "x-ask": question}}})

    extraction = extract(form, text, situation=ReadingSituation(NOW, "Europe/Berlin", locale))

    assert [item.value for item in extraction.extracted] == ([] if value is None else [value])


@pytest.mark.parametrize(
    ("text", "asked", "values"),
    [
        ("6 cups 12 plates", "cups", {"cups": 6, "plates": 12}),
        ("12 plates 6 cups please", "cups", {"cups": 6, "plates": 12}),
        ("plates 12", "cups", {"plates": 12}),
        ("only plates, 12", "cups", {}),
        ("just 6", "cups", {"cups": 6}),
    ],
)
def test_each_of_two_numbers_counts_the_noun_behind_it(text: str, asked: str, values: dict[str, Any]) -> None:
    fields = {
        name: {"type": "integer", "title": name.title(), "x-ask": f"How many {name}?"} for name in ("cups", "plates")
    }
    situation = ReadingSituation(NOW, "Europe/London", "en-GB")
    extraction = extract(Form({"type": "object", "properties": fields}), text, asked_paths=[asked], situation=situation)

    assert {item.field: item.value for item in extraction.extracted} == values


def _count(text: str, locale: str, *, title: str, minimum: int = 0) -> Any:
    schema = {"n": {"type": "integer", "title": title, "minimum": minimum, "maximum": 30}, "name": {"type": "string"}}
    form = Form({"type": "object", "properties": schema, "required": ["n"]})
    situation = ReadingSituation(NOW, "Europe/London", locale)
    extraction = extract(form, text, asked_paths=["n"], missing=["n", "name"], situation=situation)
    return {item.field: item.value for item in extraction.extracted}.get("n")


@pytest.mark.parametrize(
    ("text", "locale", "count"),
    [
        ("no eggs thanks", "en-GB", 0),
        ("none", "en-GB", 0),
        ("nah none for me", "en-GB", 0),
        ("zero", "en-GB", 0),
        ("we don't need any eggs", "en-GB", 0),
        ("no idea", "en-GB", None),
        ("no", "en-GB", None),
        ("no more than 4", "en-GB", None),
        ("10... no 4, she lives alone", "en-GB", 4),
        ("3 no 4", "en-GB", 4),
        ("12, no 6 will do", "en-GB", 6),
        ("4 or 5", "en-GB", None),
        ("keine eier", "de-DE", 0),
        ("gar keine", "de-DE", 0),
        ("wir brauchen keine eier", "de-DE", 0),
        ("keine ahnung", "de-DE", None),
        ("6, ne doch 8", "de-DE", 8),
        ("3 nein 4", "de-DE", 4),
        ("10... nein 4, sie wohnt allein", "de-DE", 4),
    ],
)
def test_none_of_what_is_counted_is_zero_and_the_last_number_counts(text: str, locale: str, count: int | None) -> None:
    assert _count(text, locale, title="Eggs" if locale == "en-GB" else "Eier") == count


def test_none_is_no_number_where_one_is_the_least() -> None:
    assert _count("none", "en-GB", title="Eggs", minimum=1) is None


def test_no_budget_is_no_amount_of_zero() -> None:
    assert _count("no budget", "en-GB", title="Budget") is None


@pytest.mark.parametrize(
    ("text", "locale", "people", "time"),
    [
        ("we are 5 people at 6pm", "en-GB", 5, "18:00"),
        ("5 people at 11", "en-GB", 5, "11:00"),
        ("change 5 people to 6", "en-GB", 6, None),
        ("5 Personen um 11", "de-DE", 5, "11:00"),
    ],
)
def test_the_number_behind_at_is_a_time(text: str, locale: str, people: int, time: str | None) -> None:
    hours = {"x-min": "08:00", "x-max": "20:00"}
    fields = {
        "people": {"type": "integer", "title": "People", "x-labels": ["Personen"]},
        "time": {"type": "string", "format": "time", "title": "Time", **hours},
    }
    form = Form({"type": "object", "properties": fields})
    extraction = extract(form, text, asked_paths=["people"], situation=ReadingSituation(NOW, "Europe/London", locale))
    values = {item.field: item.value for item in extraction.extracted}

    assert (values["people"], values.get("time")) == (people, time)


@pytest.mark.parametrize(
    ("text", "values", "locale"),
    [
        ("three, no four, and insurance please", {"parcels": 4, "insured": True}, "en-GB"),
        ("4, and with insurance", {"parcels": 4, "insured": True}, "en-GB"),
        ("three, not four, with insurance", {"parcels": 3, "insured": True}, "en-GB"),
        ("on Friday, no Saturday, for 4 parcels", {"parcels": 4, "date": "2026-11-28"}, "en-GB"),
        ("drei, nein vier, am Freitag", {"parcels": 4, "date": "2026-11-27"}, "de-DE"),
    ],
)
def test_what_follows_a_no_replaces_a_value_and_the_rest_is_read(
    text: str, values: dict[str, Any], locale: str
) -> None:
    missing = [field.path for field in FORM.leaves]
    extraction = extract(
        FORM, text, asked_paths=["parcels"], missing=missing, situation=ReadingSituation(NOW, "", locale)
    )

    assert {item.field: item.value for item in extraction.extracted} == values


@pytest.mark.parametrize(
    ("text", "values", "locale"),
    [
        ("yes, see you in 2027", {}, "en-GB"),
        ("in 2027", {}, "en-GB"),
        ("like back in 1998", {}, "en-GB"),
        ("2000", {"parcels": 2000}, "en-GB"),
        ("delivered in 2000 parcels", {"parcels": 2000}, "en-GB"),
        ("im Jahr 2027", {}, "de-DE"),
        ("wie in 1998", {}, "de-DE"),
        ("2000 Stück", {"parcels": 2000}, "de-DE"),
    ],
)
def test_a_year_counts_nothing(text: str, values: dict[str, Any], locale: str) -> None:
    extraction = extract(FORM, text, asked_paths=["parcels"], situation=ReadingSituation(NOW, "", locale))

    assert {item.field: item.value for item in extraction.extracted} == values


def test_a_field_that_asks_for_a_year_takes_one() -> None:
    form = Form(
        {"type": "object", "properties": {"built": {"type": "integer", "x-ask": "In which year was it built?"}}}
    )
    extraction = extract(form, "in 1998", asked_paths=["built"], situation=ReadingSituation(NOW, "", "en-GB"))

    assert [item.value for item in extraction.extracted] == [1998]


def test_a_thing_that_somebody_has_is_not_included_beside_another_value() -> None:
    extraction = extract(
        FORM,
        "4 parcels, the insurance we have ourselves",
        asked_paths=["parcels"],
        situation=ReadingSituation(NOW, "", "en-GB"),
    )

    assert {item.field: item.value for item in extraction.extracted} == {"parcels": 4, "insured": False}


@pytest.mark.parametrize(
    ("text", "locale", "values"),
    [
        ("my son is 4", "en-GB", {}),
        ("two, the older one is 6", "en-GB", {}),
        ("my daughter's 6", "en-GB", {}),
        ("we're 3", "en-GB", {"kids": 3}),
        ("mein Kind ist 4", "de-DE", {}),
        ("sie ist 5", "de-DE", {}),
        ("wir sind 3", "de-DE", {"kids": 3}),
    ],
)
def test_the_age_of_one_child_counts_no_children(text: str, locale: str, values: dict[str, Any]) -> None:
    question = "Wie viele Kinder kommen?" if locale == "de-DE" else "How many children are coming?"
    form = Form({"type": "object", "properties": {"kids": {"type": "integer", "x-ask": question}}})
    extraction = extract(form, text, asked_paths=["kids"], situation=ReadingSituation(NOW, "", locale))

    assert {item.field: item.value for item in extraction.extracted} == values


def test_the_age_of_one_child_is_an_age() -> None:
    form = Form(
        {"type": "object", "properties": {"age": {"type": "integer", "x-ask": "How old is the child?", "title": "Age"}}}
    )
    extraction = extract(form, "my son is 4", asked_paths=["age"], situation=ReadingSituation(NOW, "", "en-GB"))

    assert [item.value for item in extraction.extracted] == [4]


@pytest.mark.parametrize(
    ("text", "locale", "people"),
    [
        ("4, no wait my sister comes too so 5", "en-GB", 5),
        ("4, wait no there's my gran too so 5", "en-GB", 5),
        ("3, nee mit der Oma sinds 4", "de-DE", 4),
        ("2. oh no my mum is coming, so 3", "en-GB", 3),
        ("4, nee moment, Papa kommt noch also 5", "de-DE", 5),
        ("6, no wait, so that's it", "en-GB", None),
    ],
)
def test_the_number_that_concludes_replaces_the_first_one(text: str, locale: str, people: int | None) -> None:
    form = Form({"type": "object", "properties": {"people": {"type": "integer", "title": "Number of people"}}})
    situation = ReadingSituation(datetime(2026, 11, 4, 10, tzinfo=UTC), "Europe/London", locale)
    extraction = extract(form, text, asked_paths=["people"], situation=situation)
    assert {item.field: item.value for item in extraction.extracted} == ({"people": people} if people else {})


@pytest.mark.parametrize(
    ("text", "locale"),
    [
        ("7 bikes, none of them electric", "en-GB"),
        ("7, none are electric", "en-GB"),
        ("7 Räder, keins davon elektrisch", "de-DE"),
    ],
)
def test_none_of_them_answers_the_question_about_them(text: str, locale: str) -> None:
    count, question = ("Wie viele Räder sind es?", "Ist eins davon elektrisch?")
    if locale == "en-GB":
        count, question = ("How many bikes are there?", "Are any of them electric?")
    title = "Electric" if locale == "en-GB" else "Elektrisch"
    properties = {
        "bikes": {"type": "integer", "x-ask": count},
        "electric": {"type": "boolean", "title": title, "x-ask": question},
    }
    form = Form({"type": "object", "required": ["bikes", "electric"], "properties": properties})
    extraction = extract(form, text, asked_paths=["bikes"], situation=ReadingSituation(NOW, "", locale))
    assert {item.field: item.value for item in extraction.extracted} == {"bikes": 7, "electric": False}
