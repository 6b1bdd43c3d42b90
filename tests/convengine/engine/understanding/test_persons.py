"""Names of people in messages, for whole names and for their parts."""

from datetime import datetime

import pytest

from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, list_labels, make_lexicon
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import understand
from convengine.json_value import Json

PAIR = {"first": {"title": "First name"}, "last": {"title": "Last name"}, "day": {"format": "date"}}
WHOLE = {"driver": {"title": "Driver", "x-kind": "person"}, "town": {"title": "Town"}, "day": {"format": "date"}}


def read(
    text: str,
    fields: dict[str, dict[str, Json]],
    asked_path: str,
    locale: str = "en-GB",
    *,
    is_phrase: bool = False,
) -> dict[str, Json]:
    items = tuple(
        FormField(spec, True, list_labels([spec.title]))
        for name, declared in fields.items()
        for spec in [field_spec(name, {"type": "string", **declared})]
    )
    specs, tables = [item.spec for item in items], get_tables(locale)
    message = understand(text, tables, FINDERS, specs, make_lexicon(items, tables.lexicon))
    situation = Situation(datetime.fromisoformat("2026-11-24T10:00:00+01:00"), "Europe/Berlin", locale)
    form = OpenForm(items, asked_path=asked_path)
    reading = read_into_form(message, form, FINDERS, situation, is_phrase=is_phrase)
    return {item.field: item.value for item in reading.taken}


@pytest.mark.parametrize(
    ("text", "asked_path", "taken"),
    [
        ("Ann Hill", "first", {"first": "Ann", "last": "Hill"}),
        ("ann hill", "last", {"first": "ann", "last": "hill"}),
        ("Hill, Ann", "first", {"first": "Ann", "last": "Hill"}),
        ("my name is Ann van der Berg", "", {"first": "Ann", "last": "van der Berg"}),
        ("Mr Hill", "first", {"last": "Hill"}),
        ("Hill", "last", {"last": "Hill"}),
        ("June", "first", {"first": "June"}),
        ("the name's Hill, Ann Hill", "first", {"first": "Ann", "last": "Hill"}),
        ("tomorrow, under Ann Hill", "day", {"first": "Ann", "last": "Hill", "day": "2026-11-25"}),
        ("a table for Ann Hill", "", {"first": "Ann", "last": "Hill"}),
        ("tomorrow", "first", {"day": "2026-11-25"}),
    ],
)
def test_one_answer_gives_the_given_and_the_family_name(text: str, asked_path: str, taken: dict[str, Json]) -> None:
    assert read(text, PAIR, asked_path) == taken


@pytest.mark.parametrize(
    ("text", "locale", "name"),
    [
        ("Ann-Marie O'Hill here", "en-GB", "Ann-Marie O'Hill"),
        ("I'm J. Pike, thanks", "en-GB", "J. Pike"),
        ("Will", "en-GB", "Will"),
        ("A. Pike", "en-GB", "A. Pike"),
        ("it's A. Pike", "en-GB", "A. Pike"),
        ("J.R.R. Pike", "en-GB", "J.R.R. Pike"),
        ("Max Pike", "en-GB", "Max Pike"),
        ("Trần Thị An", "en-GB", "Trần Thị An"),
        ("Sunday Pike", "en-GB", "Sunday Pike"),
        ("Jo Pike (Mrs)", "en-GB", "Jo Pike"),
        ("Jo Pike 020 7946 0123", "en-GB", "Jo Pike"),
        ("für Jana Vogt", "de-DE", "Jana Vogt"),
        ("ich heiße Jana Vogt", "de-DE", "Jana Vogt"),
        ("Vogt, Jana", "de-DE", "Jana Vogt"),
        ("Jana Montag", "de-DE", "Jana Montag"),
        ("auf den Namen Dr. Vogt", "de-DE", "Dr. Vogt"),
    ],
)
def test_a_whole_name_is_taken_when_it_is_asked_for(text: str, locale: str, name: str) -> None:
    assert read(text, WHOLE, "driver", locale) == {"driver": name}


@pytest.mark.parametrize("text", ["a ticket for Fremont", "I'm Vegetarian", "Lovely", "call Ann for me"])
def test_what_may_be_no_name_is_left_when_none_is_asked_for(text: str) -> None:
    assert "driver" not in read(text, WHOLE, "day")


@pytest.mark.parametrize(
    "text", ["no idea", "my name is on the list", "wait", "not Ann", "Yes Please", "Friday Please"]
)
def test_words_that_are_no_name_are_not_taken(text: str) -> None:
    assert "first" not in read(text, PAIR, "first")


def test_a_phrase_of_another_intent_is_no_name() -> None:
    assert read("parking", WHOLE, "driver") == {"driver": "parking"}
    assert read("parking", WHOLE, "driver", is_phrase=True) == {}
