"""The order inside one message (dialogue 0), row by row."""

from typing import Any

import pytest

from config_admin.flows.mapping import write_rows
from config_admin.transfer.apply_import import add_rows
from tests.api import Caller
from tests.dialogues.rows.worlds import make_flows

pytestmark = pytest.mark.django_db

DENTIST = {
    "code": "DENTIST", "title": "Dentist appointment", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need to see a dentist"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "day", "title": "Day", "type": "date", "min": "today", "question": "Which day?"},
        {"name": "phone", "title": "Phone number", "type": "phone", "country": "GB", "question": "Which number?"},
    ],
    "answer": "Booked.",
    "questions_and_answers": [{"questions": ["what are your prices"], "answer": "80 pounds."}],
}  # fmt: skip
TABLE = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB", "phrases": ["book a table"],
    "fields": [{"name": "guests", "title": "Guests", "type": "number", "question": "How many guests?"}],
    "answer": "See you.",
}  # fmt: skip
PHONE = "020 7946 0018"


@pytest.fixture
def caller() -> Caller:
    make_flows(DENTIST, TABLE)
    return Caller()


def say(caller: Caller, *lines: str) -> dict[str, Any]:
    """The answer to the last line."""
    answers = [caller.say(line) for line in lines]
    assert all(answer["success"] for answer in answers), answers
    return answers[-1]


def get_text(answer: dict[str, Any]) -> str:
    return str(answer["payload"]["value"])


def test_row_1_a_reset_goes_before_everything(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", "John Smith", "start over")

    assert (answer["intent"], answer["context"].get("name")) == ("UNKNOWN", None)


def test_row_2_a_yes_goes_before_a_value_where_a_confirmation_is_open(caller: Caller) -> None:
    assert get_text(say(caller, "I need to see a dentist", "John Smith", "tomorrow", PHONE, "yes")) == "Booked."


@pytest.mark.parametrize("text", ["change the name to Ann Bell", "no, my name is Ann Bell"])
def test_row_3_a_correction_goes_before_the_asked_field(caller: Caller, text: str) -> None:
    answer = say(caller, "I need to see a dentist", "John Smith", text)

    assert answer["context"]["name"] == "Ann Bell"
    assert get_text(answer).endswith("Which day?")


def test_row_4_a_typed_value_of_another_field_goes_before_the_asked_field(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", f"my number is {PHONE}")

    assert answer["context"]["phone"] == "+442079460018"
    assert get_text(answer) == "What is your name?"


def test_row_5_a_digression_goes_before_a_bare_answer(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", "what are your prices?")

    assert "name" not in answer["context"]
    assert get_text(answer).startswith("80 pounds.")
    assert get_text(answer).endswith("What is your name?")


def test_rows_4_and_5_values_are_stored_and_the_question_answered(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", "John Smith", "tomorrow. And what are your prices?")

    assert answer["context"]["day"]
    assert get_text(answer).startswith("80 pounds.")
    assert get_text(answer).endswith("Which number?")


def test_row_6_a_bare_answer_is_for_the_asked_field(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", "John Smith")

    assert answer["context"]["name"] == "John Smith"


def test_row_7_a_change_of_subject_comes_after_the_values_of_the_form(caller: Caller) -> None:
    asked = say(caller, "I need to see a dentist", "John Smith", "I want to book a table")
    answered = say(Caller(caller.secret), "I need to see a dentist", "John Smith", "tomorrow, then I book a table")

    assert get_text(asked) == "Do you want to stop this and go on with “Book a table”?"
    assert get_text(answered) == "Which number?"


def test_row_8_what_is_left_is_not_understood(caller: Caller) -> None:
    answer = say(caller, "I need to see a dentist", "John Smith", "purple elephants")

    assert get_text(answer) == "Sorry, I did not understand that. Which day?"
    assert "NOT_UNDERSTOOD" in caller.stages(3)


CRATE = {
    "code": "CRATE", "title": "Move a machine", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need a machine moved", "can you move my machine", "machine transport"],
    "fields": [
        {"name": "machine", "title": "Machine", "type": "choice", "question": "Which machine?",
         "options": [{"value": "lathe", "label": "Lathe"},
                     {"value": "press", "label": "Press"}]},
        {"name": "day", "title": "Day", "type": "date", "question": "Which day?"},
        {"name": "floors", "title": "Floors", "type": "number", "question": "How many floors?"},
    ],
    "answer": "Done.",
    "questions_and_answers": [
        {"answer": "200 pounds.", "questions": [
            "How much does a move cost?", "Is it more for several floors?", "What do you charge to move a press?"]},
        {"answer": "8 to 5.", "questions": ["When are you open?", "What time do you open?"]},
    ],
}  # fmt: skip


KURS = {
    "code": "KURS", "title": "Kurs buchen", "kind": "collect", "locale": "de-DE", "phrases": ["Kurs buchen"],
    "fields": [{"name": "tag", "title": "Tag", "type": "date", "question": "An welchem Tag?"}],
    "answer": "Gebucht.",
    "questions_and_answers": [
        {"answer": "Von 8 bis 5.", "questions": ["Wann haben Sie offen?", "Ist nächste Woche offen?"]},
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("flow", "lines", "text", "answer"),
    [
        *(
            pytest.param(CRATE, ("machine transport", "lathe"), text, "Please name one day. Which day?", id=text)
            for text in ("next week some time", "some time in the week after next", "any time next week")
        ),
        *(
            pytest.param(
                KURS, ("Kurs buchen",), text, "Bitte nennen Sie einen bestimmten Tag. An welchem Tag?", id=text
            )
            for text in ("irgendwann nächste woche", "nächste Woche irgendwann")
        ),
        pytest.param(CRATE, ("machine transport", "lathe"), "what time do you open?", "8 to 5.", id="a question"),
        pytest.param(KURS, ("Kurs buchen",), "ist nächste Woche offen?", "Von 8 bis 5.", id="a German question"),
    ],
)
def test_a_part_of_the_asked_value_is_no_question(
    flow: dict[str, Any], lines: tuple[str, ...], text: str, answer: str
) -> None:
    add_rows(write_rows(flow), author="ada", reason="begin")

    assert get_text(say(Caller(), *lines, text)).startswith(answer)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        pytest.param("could you move our press on 2 October 2027, there's 2 floors", "CRATE", id="two values"),
        pytest.param("please move a press on 2 October 2027, it's 3 floors", "CRATE", id="an order"),
        pytest.param("how much does it cost to move a press to 2 floors?", "CRATE_Q1", id="a question with values"),
        pytest.param("what do you charge to move a press?", "CRATE_Q1", id="a question"),
    ],
)
def test_a_message_that_begins_a_flow_with_two_values_is_no_question_beside_it(text: str, intent: str) -> None:
    add_rows(write_rows(CRATE), author="ada", reason="begin")

    assert Caller().say(text)["intent"] == intent
