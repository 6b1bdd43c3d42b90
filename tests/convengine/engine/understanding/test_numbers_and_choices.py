"""Numbers, money, contacts, patterns and choices: the lists of what people say, and what single finders promise."""

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from text_to_num import text2num

from convengine.engine.understanding.field import FieldSpec, field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, list_labels, make_lexicon
from convengine.engine.understanding.kinds.choices import NEAR
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.span import Resolved, Situation, Span, accept
from convengine.engine.understanding.understand import Understanding, understand
from convengine.json_value import Json

FOLDER = Path(__file__).parent
LOCALES = {
    "en": "en-GB", "de": "de-DE", "es": "es-ES", "fr": "fr-FR", "it": "it-IT", "pt": "pt-BR", "nl": "nl-NL",
}  # fmt: skip
NOW = datetime(2026, 11, 24, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
ENGLISH = Situation(NOW, "Europe/Berlin", "en-GB")


def list_values() -> Iterator[tuple[str, str, str, Json]]:
    for language, locale in LOCALES.items():
        for kind, texts in tomllib.loads((FOLDER / "numbers" / f"{language}.toml").read_text("utf-8")).items():
            for text, expected in texts.items():
                yield locale, kind, text, expected


def list_choices() -> Iterator[tuple[str, list[str], str, Json]]:
    for language, locale in LOCALES.items():
        for row in tomllib.loads((FOLDER / "choices" / f"{language}.toml").read_text("utf-8"))["choice"]:
            for text, expected in row["texts"].items():
                yield locale, row["options"], text, expected


def read_message(text: str, locale: str, specs: Sequence[FieldSpec]) -> Understanding:
    tables = get_tables(locale)
    lexicon = make_lexicon([FormField(spec, True, list_labels([spec.title])) for spec in specs], tables.lexicon)
    return understand(text, tables, FINDERS, specs, lexicon)


def resolve(span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool = True) -> Resolved | None:
    return FINDERS[span.sort].resolve(span, spec, situation, is_meant=is_meant)


def describe(resolved: Resolved | None) -> Json:
    """In the notation of the lists."""
    if resolved is None:
        return ""
    if resolved.is_value:
        return resolved.value
    return list(resolved.values) or f"!{resolved.reason}"


def read_whole(spec: FieldSpec, text: str, situation: Situation = ENGLISH) -> Json:
    """What the span that covers all words is for the asked field."""
    message = read_message(text, situation.locale, [spec])
    words = [index for index, word in enumerate(message.words) if not word.is_sign]
    whole = [span for span in message.spans if span.start <= words[0] and words[-1] < span.end]
    return next((found for span in whole if (found := describe(resolve(span, spec, situation))) != ""), "")


@pytest.mark.parametrize(("locale", "kind", "text", "expected"), list(list_values()))
def test_a_value_is_read_as_people_mean_it(locale: str, kind: str, text: str, expected: Json) -> None:
    assert read_whole(field_spec("field", {"x-kind": kind}), text, replace(ENGLISH, locale=locale)) == expected


def make_choice(labels: Sequence[str], name: str = "field") -> FieldSpec:
    """A field with options; "Pain|toothache" has a synonym."""
    rows = [label.split("|") for label in labels]
    options = [{"value": label, "label": label, "synonyms": others} for label, *others in rows]
    return field_spec(name, {"type": "string", "title": "Your choice", "x-options": options})


def name_options(spec: FieldSpec, text: str, situation: Situation) -> Json:
    """The options that a message names, in the notation of the lists."""
    spans = sorted(read_message(text, situation.locale, [spec]).spans, key=lambda span: span.start)
    found = [(span, resolved) for span in spans if (resolved := resolve(span, spec, situation))]
    values = list(dict.fromkeys(value for _, resolved in found for value in resolved.values))
    if len(values) == 1 and found[0][0].phrase.means == NEAR:
        return f"near: {values[0]}"
    return values if len(values) > 1 else next(iter(values), "")


@pytest.mark.parametrize(("locale", "options", "text", "expected"), list(list_choices()))
def test_an_option_is_named_as_people_do(locale: str, options: list[str], text: str, expected: Json) -> None:
    spec = make_choice(options)
    listed = tuple(option.value for option in spec.options)

    assert name_options(spec, text, replace(ENGLISH, locale=locale, listed_options=listed)) == expected


ORDER = {"type": "string", "pattern": r"^ORD-\d{4,6}$"}


@pytest.mark.parametrize("text", ["ORD-20931", "ord-20931", "it's ord 20931", "my order is ORD-20931."])
def test_a_code_is_found_in_any_spelling(text: str) -> None:
    assert name_options(field_spec("order", ORDER), text, ENGLISH) == "ORD-20931"


def test_an_asked_code_of_another_form_is_refused() -> None:
    spec = field_spec("order", ORDER)
    (span,) = read_message("20931", "en-GB", [spec]).spans

    assert describe(resolve(span, spec, ENGLISH)) == "!PATTERN_MISMATCH"
    assert resolve(span, spec, ENGLISH, is_meant=False) is None


@pytest.mark.parametrize(
    ("declared", "text", "value", "is_weak"),
    [
        (ORDER, "ord-20931", "ORD-20931", False),
        ({"type": "string", "pattern": r"^\d{5}$"}, "it is 20931", "20931", True),
        ({"type": "string", "pattern": "^[A-Za-z ]+$"}, "hello there", "hello", True),
        ({"type": "string", "pattern": "^#[0-9a-f]{6}$"}, "#aabbcc", "#aabbcc", True),
        ({"type": "string", "pattern": "^#[0-9a-f]{6}$"}, "make it #2fd1a0, please", "#2fd1a0", False),
        ({"type": "string", "x-extract": [r"locker (?P<value>\w+)"]}, "it is in locker b7 now", "b7", False),
        ({"format": "uri", "type": "string"}, "see https://example.org/a?b=1.", "https://example.org/a?b=1", False),
        (
            {"format": "uuid", "type": "string"},
            "id 123e4567-e89b-12d3-a456-426614174000!",
            "123e4567-e89b-12d3-a456-426614174000",
            False,
        ),
    ],
)
def test_a_pattern_is_weak_where_any_word_or_number_fits_it(
    declared: dict[str, Json], text: str, value: str, is_weak: bool
) -> None:
    spec = field_spec("field", declared)
    (span,) = read_message(text, "en-GB", [spec]).spans

    assert (describe(resolve(span, spec, ENGLISH)), span.is_weak, span.field) == (value, is_weak, "field")


@pytest.mark.parametrize(
    ("text", "declared", "expected"),
    [
        ("a year and a half", {"title": "Number of months", "type": "integer"}, 18),
        ("two years", {"title": "Number of months", "type": "integer"}, 24),
        ("half a year", {"title": "Number of months", "type": "integer"}, 6),
        ("a fortnight", {"title": "Number of days"}, 14),
        ("an hour", {"title": "Number of minutes"}, 60),
        ("a week", {"title": "Number of nights"}, 7),
        ("6 weeks", {"title": "Number of months"}, "!WRONG_UNIT"),
        ("3 days", {"title": "Number of nights"}, "!WRONG_UNIT"),
        ("3 days", {"title": "Number of days"}, 3),
        ("4 years", {"title": "Number of months", "maximum": 36}, "!OUT_OF_BOUNDS"),
        ("2 kilos 300", {"title": "Weight", "x-unit": "kg"}, 2.3),
        ("2 kg 300 g", {"title": "Weight", "x-unit": "kg"}, 2.3),
        ("300 g", {"title": "Weight", "x-unit": "kg"}, 0.3),
        ("12 stone 4", {"title": "Weight", "x-unit": "kg"}, "!WRONG_UNIT"),
        ("1 m 80", {"title": "Height", "x-unit": "cm"}, 180),
        ("1m80", {"title": "Height", "x-unit": "cm"}, 180),
        ("6ft2", {"title": "Height", "x-unit": "cm"}, "!WRONG_UNIT"),
        ("EUR200", {"title": "Deposit", "x-currency": "EUR"}, 200),
        ("5'11\"", {"title": "Height", "x-unit": "cm"}, "!WRONG_UNIT"),
        ("5 foot 6", {"title": "Height", "x-unit": "feet"}, 5.5),
        ("5 foot 11", {"title": "Age"}, "!WRONG_UNIT"),
        ("£1 000.50", {"title": "Budget"}, 1000.5),
        ("$1.2M", {"title": "Budget", "x-currency": "USD"}, 1200000),
        ("30 dollar 17c", {"title": "Budget", "x-currency": "USD"}, 30.17),
        ("five dollars and a quarter", {"title": "Budget", "x-currency": "USD"}, 5.25),
        ("20%", {"title": "Percentage"}, 20),
        ("34 years old", {"title": "Age"}, 34),
        ("2.5", {"title": "Guests", "type": "integer"}, "!NOT_WHOLE"),
        ("5", {"title": "Guests", "type": "integer", "maximum": 4}, "!OUT_OF_BOUNDS"),
        ("0", {"title": "Guests", "exclusiveMinimum": 0}, "!OUT_OF_BOUNDS"),
        ("4 people", {"title": "Guests"}, 4),
        ("2 kids", {"title": "Guests"}, 2),
        ("4 rooms", {"title": "Guests"}, ""),
        ("4 people", {"title": "Number of weeks"}, ""),
        ("£250", {"title": "Budget"}, 250),
        ("£250", {"title": "Guests"}, "!WRONG_UNIT"),
        ("$20", {"title": "Deposit", "x-currency": "EUR"}, "!WRONG_UNIT"),
        ("$20", {"title": "Deposit", "x-currency": "CAD"}, 20),
        ("two hundred and three hundred", {"title": "Budget"}, ""),
    ],
)
def test_a_number_goes_by_the_unit_and_the_bounds_of_its_field(
    text: str, declared: dict[str, Json], expected: Json
) -> None:
    assert read_whole(field_spec("field", {"type": "number", **declared}), text) == expected


@pytest.mark.parametrize(
    ("text", "locale", "expected"),
    [
        ("one more", "en-GB", 5),
        ("two more guests", "en-GB", 6),
        ("another guest", "en-GB", 5),
        ("two fewer", "en-GB", 2),
        ("noch eine mehr", "de-DE", 5),
        ("zwei weniger", "de-DE", 2),
    ],
)
def test_an_amount_counts_from_the_held_value(text: str, locale: str, expected: int) -> None:
    spec = field_spec("guests", {"type": "integer", "title": "Guests"})

    assert read_whole(spec, text, replace(ENGLISH, locale=locale, held={"guests": 4})) == expected
    assert read_whole(spec, text, replace(ENGLISH, locale=locale)) == ""


@pytest.mark.parametrize(
    ("text", "declared", "is_weak"),
    [
        ("12", {"type": "integer"}, True),
        ("twelve", {"type": "integer"}, True),
        ("£12", {"type": "number", "x-currency": "GBP"}, False),
        ("12 guests", {"type": "integer", "title": "Guests"}, False),
        ("twelv", {"type": "integer"}, True),
        ("07700 900123", {"format": "phone"}, False),
        ("900123", {"format": "phone"}, True),
        ("ann at example dot org", {"format": "email"}, True),
        ("ann@example.org", {"format": "email"}, False),
        ("Large", {"x-options": ["Small", "Large"]}, False),
        ("lrge", {"x-options": ["Small", "Large"]}, True),
        ("2", {"x-options": [1, 2]}, True),
    ],
)
def test_what_may_be_something_else_is_weak(text: str, declared: dict[str, Json], is_weak: bool) -> None:
    assert {span.is_weak for span in read_message(text, "en-GB", [field_spec("field", declared)]).spans} == {is_weak}


def test_a_count_of_other_things_is_nothing_for_a_field_that_was_not_asked() -> None:
    spec = field_spec("rooms", {"type": "integer", "title": "Number of rooms"})

    for text in ("4 people", "two weeks", "£20"):
        (span,) = read_message(text, "en-GB", [spec]).spans
        assert resolve(span, spec, ENGLISH, is_meant=False) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2 adults and 3 kids", 5),
        ("me and my wife", 2),
        ("my husband, our 4 girls and myself", 6),
        ("3 friends and I", 4),
        ("a table for 12", 12),
        ("a party of 6", 6),
        ("just me", 1),
        ("no one", 0),
    ],
)
def test_people_are_counted_by_heads(text: str, number: int) -> None:
    spec = field_spec("guests", {"type": "integer", "title": "Guests"})
    (span,) = read_message(text, "en-GB", [spec]).spans

    assert resolve(span, spec, ENGLISH) in (accept(number), accept(number, "sum"))


@pytest.mark.parametrize(
    "text", ["just me and my friends", "2 adults and my kids", "my sisters and me", "2 kids. 3 seniors"]
)
def test_a_part_of_the_people_is_not_all_of_them(text: str) -> None:
    spec = field_spec("guests", {"type": "integer", "title": "Guests"})
    spans = read_message(text, "en-GB", [spec]).spans

    assert [found for span in spans if (found := resolve(span, spec, ENGLISH, is_meant=False))] == []


def test_who_is_one_of_the_people_is_not_counted_twice() -> None:
    spec = field_spec("guests", {"type": "integer", "title": "Guests"})
    (span,) = read_message("3 people, my wife comes, too", "en-GB", [spec]).spans

    assert resolve(span, spec, ENGLISH) == accept(3)


@pytest.mark.parametrize(
    ("text", "locale", "number"),
    [
        ("one more guest, my cousin", "en-GB", 5),
        ("one guest more", "en-GB", 5),
        ("eine Person mehr", "de-DE", 5),
        ("nur mein Sohn, ich warte", "de-DE", None),
        ("alone", "en-GB", None),
    ],
)
def test_who_comes_in_addition_is_added_and_who_speaks_is_not(text: str, locale: str, number: int | None) -> None:
    spec = field_spec("people", {"type": "integer", "title": "Gäste" if locale == "de-DE" else "Guests"})
    situation = replace(ENGLISH, locale=locale, held={"people": 4})
    spans = read_message(text, locale, [spec]).spans

    values = [
        item.value for span in spans if (item := resolve(span, spec, situation, is_meant=False)) and item.is_value
    ]
    assert values == ([] if number is None else [number])


def test_adults_and_children_have_their_own_fields() -> None:
    specs = [field_spec(name, {"type": "integer"}) for name in ("adults", "children")]
    spans = read_message("2 adults and 3 kids", "en-GB", specs).spans

    assert [(span.field, span.phrase.slots["number_value"]) for span in spans] == [("adults", "2"), ("children", "3")]


@pytest.mark.parametrize(
    ("text", "field"),
    [("2 hotel rooms", "rooms"), ("a two star hotel", "stars"), ("three bedrooms", "beds"), ("table for 3", "guests")],
)
def test_a_number_goes_to_the_field_whose_noun_it_counts(text: str, field: str) -> None:
    titles = {"rooms": "Number of rooms", "stars": "Star rating", "beds": "Beds", "guests": "Guests"}
    specs = [field_spec(name, {"type": "integer", "title": title}) for name, title in titles.items()]
    spans = read_message(text, "en-GB", specs).spans

    assert [span.field for span in spans] == [field]


def test_a_number_with_its_unit_goes_to_the_field_in_this_unit() -> None:
    specs = [
        field_spec(name, {"type": "integer", "title": title}) for name, title in (("a", "People"), ("b", "Nights"))
    ]
    spans = read_message("8 people for 5 nights", "en-GB", specs).spans

    assert [span.field for span in spans] == ["a", "b"]


def test_a_number_that_may_be_an_hour_counts_nobody_plainly() -> None:
    specs = [field_spec("guests", {"type": "integer"}), field_spec("time", {"type": "string", "format": "time"})]

    for text, counted in (
        ("for 7", []),
        ("for 7 at 6pm", ["guests"]),
        ("for 15", ["guests"]),
        ("a table for 7 pm", []),
    ):
        plain = [span.field for span in read_message(text, "en-GB", specs).spans if span.field and not span.is_weak]
        assert plain == counted


@pytest.mark.parametrize(
    ("text", "locale", "declared", "supplied"),
    [
        ("07700 900123", "en-GB", {}, {"country"}),
        ("07700 900123", "de-DE", {"x-country": "GB"}, set()),
        ("+44 7700 900123", "de-DE", {}, set()),
        ("0044 7700 900123", "de-DE", {}, set()),
    ],
)
def test_a_phone_says_when_its_country_was_assumed(
    text: str, locale: str, declared: dict[str, Json], supplied: set[str]
) -> None:
    spec = field_spec("phone", {"format": "phone", **declared})
    (span,) = read_message(text, locale, [spec]).spans
    resolved = resolve(span, spec, replace(ENGLISH, locale=locale))

    assert resolved is not None
    assert (resolved.value, set(resolved.supplied)) == ("+447700900123", supplied)


@pytest.mark.parametrize(
    ("declared", "is_meant", "expected"),
    [({}, True, "(030) 901-8201"), ({"x-country": "US"}, True, "!INVALID_PHONE"), ({}, False, "")],
)
def test_a_country_that_only_the_language_says_refuses_no_number(
    declared: dict[str, Json], is_meant: bool, expected: str
) -> None:
    spec = field_spec("phone", {"format": "phone", **declared})
    (span,) = read_message("(030) 901-8201", "en-US", [spec]).spans

    assert describe(resolve(span, spec, replace(ENGLISH, locale="en-US"), is_meant=is_meant)) == expected


def test_a_number_that_is_kept_as_typed_is_repeated() -> None:
    spec = field_spec("phone", {"format": "phone"})
    (span,) = read_message("0171 2345678", "en-US", [spec]).spans
    resolved = resolve(span, spec, replace(ENGLISH, locale="en-US"))

    assert resolved is not None
    assert (resolved.value, resolved.supplied) == ("0171 2345678", {"country"})


@pytest.mark.parametrize(
    ("text", "country", "expected"),
    [("1010", "AT", "1010"), ("2000-123", "PT", "2000-123"), ("12345-6789", "US", "12345-6789"),
     ("1234 ab", "NL", "1234 AB"), ("K1A 0B1", "CA", "K1A 0B1"), ("1234", "DE", "!INVALID_POSTCODE")],
)  # fmt: skip
def test_a_post_code_is_read_by_its_country(text: str, country: str, expected: str) -> None:
    assert read_whole(field_spec("code", {"x-kind": "postcode", "x-country": country}), text) == expected


def test_an_option_without_listing_has_no_place() -> None:
    assert name_options(make_choice(["Small", "Large"]), "the second one", ENGLISH) == ""


def test_options_of_two_fields_are_found_for_each() -> None:
    size, colour = make_choice(["Small", "Large"], "size"), make_choice(["Red", "Large blue"], "colour")
    spans = read_message("large red", "en-GB", [size, colour]).spans

    assert {(span.field, span.start, span.is_weak) for span in spans} >= {("size", 0, False), ("colour", 1, False)}


@pytest.mark.parametrize(("language", "texts"), json.loads((FOLDER / "numbers" / "counted.json").read_text()).items())
def test_words_of_numbers_are_read_as_by_another_library(language: str, texts: Sequence[str]) -> None:
    spec, situation = field_spec("count", {"type": "integer"}), replace(ENGLISH, locale=LOCALES[language])

    assert {text: read_whole(spec, text, situation) for text in texts} == {
        text: text2num(text, language) for text in texts
    }
