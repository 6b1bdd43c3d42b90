import time
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.forms import extract as extraction_package
from convengine.engine.forms.extract import Extracted, Extraction, Rejected
from convengine.engine.forms.form import Form
from convengine.engine.values import ReadingSituation
from tests.examples import count_examples

TEXT = {"type": "string"}
FIELDS: dict[str, Any] = {
    "customerId": TEXT,
    "amount": {"type": "number", "minimum": 10},
    "tenureMonths": {"type": "integer"},
    "city": {"type": "string", "enum": ["Dallas", "Irving", "IN", "Other"], "x-synonyms": {"Dallas": ["Big D"]}},
    "email": {"type": "string", "format": "email"},
    "phone": {"type": "string", "format": "phone"},
    "startDate": {"type": "string", "format": "date"},
    "endDate": {"type": "string", "format": "date"},
    "express": {"type": "boolean"},
    "code": {"type": "string", "x-extract": ["code[ :]+([a-z]+-[0-9]+)", "("], "pattern": "^[A-Z]+-[0-9]+$"},
    "tags": {"type": "array"},
    "address": {"type": "object", "properties": {"street": TEXT, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}}},
}
FORM = Form({"type": "object", "properties": FIELDS, "required": list(FIELDS)})


SITUATION = ReadingSituation(datetime(2026, 2, 24, 10, tzinfo=ZoneInfo("Europe/London")), "Europe/London")


def extract(form: Form, text: str | None, **options: Any) -> Extraction:
    return extraction_package.extract(form, text, situation=SITUATION, **options)


def values(text: str | None, *asked_paths: str, **options: Any) -> dict[str, Any]:
    return {
        finding.field: finding.value for finding in extract(FORM, text, asked_paths=asked_paths, **options).extracted
    }


def reasons(text: str, *asked_paths: str) -> dict[str, str]:
    return {rejection.field: rejection.reason for rejection in extract(FORM, text, asked_paths=asked_paths).rejected}


def test_what_was_read_is_told_with_its_place_and_how() -> None:
    extraction = extract(FORM, "Ich möchte Dallas,  amount: 35,000 €")

    assert extraction.extracted == (
        Extracted("amount", 35000, (28, 36), "label"),
        Extracted("city", "Dallas", (11, 17), "enum"),
    )
    assert extraction.rejected == ()


def test_what_was_not_taken_is_told_with_the_reason() -> None:
    extraction = extract(FORM, "amount: 5, Dallas or Irving, city: Paris")

    assert Rejected("amount", 5, "VALUE_VIOLATES_SCHEMA") in extraction.rejected
    assert Rejected("city", "Paris", "VALUE_VIOLATES_SCHEMA") in extraction.rejected
    assert extract(FORM, "Dallas or Irving").rejected == (Rejected("city", ["Dallas", "Irving"], "AMBIGUOUS"),)


@pytest.mark.parametrize("text", [None, "", "   ", "\n"])
def test_a_blank_message_says_nothing(text: str | None) -> None:
    assert extract(FORM, text) == Extraction()


@pytest.mark.parametrize(
    "schema", [None, "<xml/>", {"type": "object"}, {"type": "object", "properties": {"a": {"type": 5}}}]
)
def test_a_schema_that_is_none_reads_nothing(schema: Any) -> None:
    assert extract(Form(schema), "a: 5") == Extraction()


def test_what_the_schemas_own_pattern_finds_is_meant_in_a_question_as_well() -> None:
    assert values("Where is code AB-12? Do you ship to Dallas?") == {"code": "AB-12"}
    assert values("not code AB-12") == {}


def test_the_whole_message_is_the_answer_when_one_field_was_asked_for() -> None:
    assert values("C 77", "customerId") == {"customerId": "C 77"}
    assert values("C 77", "customerId", "amount") == {}
    assert values("C 77") == {}
    assert values("C 77", "nowhere") == {}


def test_what_is_asked_for_comes_before_what_digits_look_like() -> None:
    assert values("9988776655", "customerId") == {"customerId": "9988776655"}
    assert values("9988776655") == {"phone": "9988776655"}
    assert values("2026-01-02", "endDate") == {"endDate": "2026-01-02"}
    assert values("2026-01-02") == {}
    assert reasons("2026-01-02") == {"startDate": "AMBIGUOUS", "endDate": "AMBIGUOUS"}


@pytest.mark.parametrize(
    "text",
    [
        "I want to cancel",
        "what do you mean?",
        "no idea",
        "never mind",
        "hello",
        "not that one",
        "move to dallas",
        "?",
        "!!",
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(text: str) -> None:
    assert "customerId" not in values(text, "customerId")


def test_what_a_pattern_captures_stands_where_its_group_does_and_the_words_before_it_may_deny_it() -> None:
    declared = {"type": "string", "x-extract": [r"(?:^|\W)(?:(?:it|is|not)\W+)*([0-9]{5})\b"]}
    form = Form({"type": "object", "properties": {"ticket": declared}})

    assert [finding.span for finding in extract(form, "it is 12345").extracted] == [(6, 11)]
    assert extract(form, "it is not 12345").extracted == ()


def test_a_message_that_calls_another_field_by_name_is_no_attempt_at_the_one_that_was_asked_for() -> None:
    assert reasons("anna@flat", "email") == {"email": "INVALID_EMAIL"}
    assert reasons("the customer id is from anna@flat", "email") == {}


def test_a_value_that_is_not_meant_is_not_the_answer_either() -> None:
    assert values("used to be code AB-12", "code") == {}
    assert values("before 2026-01-02", "endDate") == {}


def test_a_pattern_of_the_schema_captures_and_is_held_against_it() -> None:
    assert values("code AB-12") == {"code": "AB-12"}
    assert reasons("code ab-12") == {"code": "VALUE_VIOLATES_SCHEMA"}
    assert reasons("code AB-12 or code CD-34") == {"code": "AMBIGUOUS"}


def test_fields_inside_objects_are_read_by_their_paths() -> None:
    assert values("street: Main Street 5, zip: 10115") == {"address.street": "Main Street 5", "address.zip": "10115"}


def test_plain_words_are_taken_only_where_something_is_missing() -> None:
    assert values("my customer id is anna") == {"customerId": "anna"}
    assert values("my customer id is anna", missing=["city"]) == {}


def test_a_short_choice_counts_as_written() -> None:
    assert values("we are in a hurry") == {}
    assert values("in", "city") == {"city": "IN"}


def test_a_message_of_more_than_1000_characters_is_free_text_of_an_asked_text_field_or_nothing() -> None:
    properties = {"city": FIELDS["city"], "note": {**TEXT, "x-long": True}}
    form, letter = Form({"type": "object", "properties": properties}), "Dallas " + "x " * 500

    assert values("Dallas " + "x " * 400) == {"city": "Dallas"}
    assert extract(form, letter) == extract(form, letter, asked_paths=["city"]) == Extraction()
    (note,) = extract(form, letter, asked_paths=["note"]).extracted
    assert (note.field, note.value) == ("note", letter.strip())


@pytest.mark.parametrize(
    "part",
    [
        "Dallas Irving ",
        "amount 5 ",
        "5 ",
        "......",
        "    ",
        "sorry, ",
        "no ",
        "2026-01-02 ",
        "+49 30 1234567 ",
        "(1)",
        "? ",
        "½ ",
    ],
)
def test_no_message_takes_long_to_read(part: str) -> None:
    started = time.thread_time()
    for asked_paths in ((), ("customerId",), ("amount",)):
        extract(FORM, part * (4000 // len(part)), asked_paths=asked_paths)

    assert time.thread_time() - started < 3


FRAGMENTS = [
    "amount", "city", "customer id", "phone", "start date", "express", "code", "street", "zip", ": ", " = ", " is ",
    " ", ", ", ". ", "? ", "\n", "no", "not", "Dallas", "irving", "IN", "other", "35,000", "5", "24 months", "1.000",
    "2 or 3", "$5k", "2026-01-02", "03/04/2026", "2026-02-31", "a@b.org", "+49 30 123456", "9988776655", "AB-12",
    "10115", "yes", "sorry, ", "from ", " to ", "two", "'", '"', "“", "é", "ß", "İ", "ﬁ", "\u0301", "\u200b", "👍",
    "\ud800", "/", "#", "-",
]  # fmt: skip
MESSAGES = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join) | st.text(max_size=60)
ASKED = st.lists(
    st.sampled_from(["customerId", "amount", "city", "phone", "startDate", "express", "address.zip"]), max_size=2
)


@settings(max_examples=count_examples(500))
@given(MESSAGES, ASKED)
def test_any_message_can_be_read_and_what_is_read_fits_the_schema(message: str, asked_paths: list[str]) -> None:
    extraction = extract(FORM, message, asked_paths=asked_paths)

    fields = [finding.field for finding in (*extraction.extracted, *extraction.rejected)]
    assert len(fields) == len(set(fields))
    for finding in extraction.extracted:
        field = FORM.field(finding.field)
        assert field is not None
        assert FORM.breaks(field, finding.value) is None
        assert 0 <= finding.span[0] < finding.span[1] <= len(message)
    assert extract(FORM, message, asked_paths=asked_paths) == extraction


SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["string", "integer", "number", "boolean", "array", "object", ["string", "null"], "odd", 7]
            ),
            "enum": st.lists(st.sampled_from(["A", "Dallas", "C++", 1, 2.5, None, True, "", " ", "No"]), max_size=4),
            "format": st.sampled_from(["email", "date", "phone", "uri", "uuid", "date-time", "odd", 3]),
            "pattern": st.sampled_from(["^[A-Z]+-\\d+$", "(", "a+", 5]),
            "x-extract": st.sampled_from(["(\\w+)-", ["(", "(?P<value>\\d+)"], 5, [None]]),
            "x-synonyms": st.sampled_from([{"A": ["big a"]}, {"x": "A"}, [1], {"A": 5}, {"true": ["express"]}]),
            "x-labels": st.sampled_from(["name", ["", "von"], 5, [None, "to"]]),
            "title": st.sampled_from(["City", "", 5, "From"]),
            "minimum": st.integers(-5, 5),
            "$ref": st.sampled_from(["#/properties/a", "#/nowhere", "http://localhost/x"]),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {"properties": st.dictionaries(st.sampled_from(["x", "yes"]), inner, max_size=2)}
    ),
    max_leaves=3,
)


@settings(max_examples=count_examples(300))
@given(
    st.dictionaries(st.sampled_from(["a", "fromCity", "toCity", "amount", "", "ä_b2"]), SCHEMAS, min_size=1), MESSAGES
)
def test_no_schema_makes_reading_fail(properties: dict[str, Any], message: str) -> None:
    form = Form({"type": "object", "properties": properties})
    paths = [field.path for field in form.leaves]

    for asked_paths in ([], paths[:1]):
        for finding in extract(form, message, asked_paths=asked_paths).extracted:
            field = form.field(finding.field)
            assert field is not None
            assert form.breaks(field, finding.value) is None


def test_a_pattern_cuts_nothing_in_two_that_is_one() -> None:
    form = Form(
        {
            "type": "object",
            "properties": {
                "address": {"type": "string", "x-extract": [r"\d{1,4} (?:\w+ ){1,3}?road"]},
                "day": {"type": "string", "format": "date"},
                "number": {"type": "string", "x-extract": [r"\b\d{5}\b"]},
                "host": {"type": "string", "x-extract": [r"@([\w.]+)"]},
            },
        }
    )

    def read(text: str) -> dict[str, object]:
        return {finding.field: finding.value for finding in extract(form, text).extracted}

    assert read("on 1 march 2027 to 12 mill road") == {"day": "2027-03-01", "address": "12 mill road"}
    assert read("call 0800 55501, order 48392") == {"number": "48392"}
    assert read("48392@example.org") == {"host": "example.org"}
    assert read("2027-03-01 12 mill road") == {"day": "2027-03-01", "address": "12 mill road"}


@pytest.mark.parametrize(("text", "day"), [("14.3.2026", "2026-03-14"), ("3 April 2027", "2027-04-03")])
def test_a_day_that_the_asked_field_takes_is_not_ambiguous_for_another(text: str, day: str) -> None:
    extraction = extract(FORM, text, asked_paths=["startDate"], missing=["startDate", "endDate"])

    assert [(finding.field, finding.value) for finding in extraction.extracted] == [("startDate", day)]
    assert extraction.rejected == ()
