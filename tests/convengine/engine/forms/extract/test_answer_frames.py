from typing import Any

import pytest

from convengine.engine.forms.extract.answer_frames import frames_number, says_no_name, verb_goes_on
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.units import find_numbers
from convengine.engine.forms.form import Field, Form


def field(name: str, **declared: Any) -> Field:
    return Form({"type": "object", "properties": {name: declared}}).fields[0]


@pytest.mark.parametrize(
    ("message", "name", "expected"),
    [
        ("5", "seats", True),
        ("we'd like 5 please", "seats", True),
        ("can i have 5", "seats", True),
        ("i have 5", "seats", False),
        ("5 chairs", "seats", True),
        ("5 kg", "seats", False),
        ("5 chairs", "budget", False),
        ("5 grand", "budget", True),
        ("budget of 5 to be safe at home", "budget", True),
        ("bus 5", "seats", False),
        ("in 5", "seats", False),
        ("hello there, my bus is late, 5 please", "seats", True),
    ],
)
def test_the_clause_of_a_number_frames_it_or_tells_something_else(message: str, name: str, expected: bool) -> None:
    reading = Reading(message)

    assert frames_number(reading, field(name, type="integer"), next(iter(find_numbers(reading)))) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("anything", True), ("city", True), ("the target city", True), ("it depends", True), ("new york", False),
        ("nice", False), ("this takes long", True),
    ],
)  # fmt: skip
def test_words_that_name_nothing(said: str, expected: bool) -> None:
    assert says_no_name(said.split(), field("targetCity", type="string")) is expected


def test_a_verb_that_goes_on_is_no_name_and_a_capital_is() -> None:
    assert verb_goes_on(Reading("I am moving to Lyon"), "i am ", 5)
    assert not verb_goes_on(Reading("it is Flushing Meadows"), "it is ", 6)
    assert not verb_goes_on(Reading("it is reading"), "it is ", 6)
