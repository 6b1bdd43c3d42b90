"""An asked choice is offered the option that the answer means in other words."""

import pytest

from convengine.engine.turn.ports import UnrecordedDecisions
from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.principles import Principle, switch_off
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Doubt, Reading
from convengine.engine.understanding.span import RefusalReason, Situation
from convengine.engine.understanding.understand import add_learned_moves, understand
from tests.convengine.engine.understanding.test_values import NOW

FIELDS = {
    "payment": ["invoice", "cash", "gift card"],
    "colour": ["red", "green", "blue"],
    "size": ["small", "large"],
}


def read(text: str, asked: str) -> Reading:
    fields = tuple(
        FormField(field_spec(name, {"type": "string", "enum": options}), True, ((name,),))
        for name, options in FIELDS.items()
    )
    tables = get_tables("en-GB")
    understanding = understand(text, tables, FINDERS, [item.spec for item in fields], learned=UnrecordedDecisions())
    form = OpenForm(fields, asked_path=asked)
    return read_into_form(add_learned_moves(understanding), form, FINDERS, Situation(NOW, locale="en-GB"))


@pytest.mark.parametrize(
    ("text", "asked", "value"),
    [
        ("I'd give you banknotes", "payment", "cash"),
        ("coins please", "payment", "cash"),
        ("ruby I would say", "colour", "red"),
        ("a really enormous one", "size", "large"),
    ],
)
def test_the_option_that_is_said_in_other_words_is_offered(text: str, asked: str, value: str) -> None:
    reading = read(text, asked)
    assert [(item.field, item.value, item.why) for item in reading.offered] == [(asked, value, Doubt.MEANING)]
    assert not reading.taken
    with switch_off(Principle.MEANT_OPTIONS):
        assert not read(text, asked).offered


@pytest.mark.parametrize("asked", ["", "size"])
def test_a_field_that_was_not_asked_is_offered_nothing(asked: str) -> None:
    assert [item.field for item in read("I'd give you banknotes", asked).offered if item.field != asked] == []


@pytest.mark.parametrize("text", ["purple", "my neighbour's violin", "what is it for?", "thank you so much for that"])
def test_a_sibling_of_all_options_and_what_is_about_something_else_is_no_option(text: str) -> None:
    reading = read(text, "colour")
    assert not reading.offered
    assert [item.reason for item in reading.refused if item.reason == RefusalReason.AMBIGUOUS] == []


def test_two_near_options_are_offered_as_a_choice() -> None:
    (refused,) = read("medium", "size").refused
    assert (refused.reason, refused.data) == (RefusalReason.AMBIGUOUS, {"candidates": ["small", "large"]})
