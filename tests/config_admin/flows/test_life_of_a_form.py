"""The life of a form that a flow makes: done, done again, left (dialogue 4)."""

from typing import Any

import pytest

from config_admin.flows.flows import write_rows
from config_admin.transfer.apply_import import add_rows
from tests.api import Caller

pytestmark = pytest.mark.django_db

DENTIST = {
    "code": "DENTIST", "title": "Dentist appointment", "kind": "collect", "locale": "en-GB",
    "phrases": ["I need to see a dentist", "book an appointment"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "guests", "title": "Number of persons", "type": "number", "min": 1, "max": 8},
    ],
    "answer": "Booked for {{ name }}.",
    "questions_and_answers": [{"questions": ["what are your prices"], "answer": "80 pounds."}],
}  # fmt: skip
ZAHNARZT = {
    "code": "ZAHNARZT", "title": "Zahnarzttermin", "kind": "collect", "locale": "de-DE",
    "phrases": ["Ich brauche einen Zahnarzt", "Termin vereinbaren"],
    "fields": [{"name": "tag", "title": "Tag", "type": "date", "question": "An welchem Tag?"}],
    "answer": "Notiert.",
}  # fmt: skip
CHECK = "Please check: Name: {}, Number of persons: 2. Is that right?"
ASK_LEAVE = "Do you want to stop? Then I will drop what you have told me so far."
CANCELLED = "All right, I have dropped that."
THANKS = "You're welcome. Is there anything else that I can do for you?"


def make_caller(flow: dict[str, Any] = DENTIST) -> Caller:
    add_rows(write_rows(flow), author="ada", reason="begin")
    return Caller()


def hold(caller: Caller, *exchanges: tuple[str, str, str]) -> dict[str, Any]:
    """Say each message and expect its state and the beginning of its answer; gives the last answer."""
    answer: dict[str, Any] = {}
    for text, state, expected in exchanges:
        answer = caller.say(text)
        assert answer["success"], answer
        assert (answer["state"], answer["payload"]["value"][: len(expected)]) == (state, expected), text
    return answer


def book(caller: Caller, name: str = "Ann Bell") -> None:
    """Go through the form to its confirmation."""
    for text in ("book an appointment", name):
        caller.say(text)
    hold(caller, ("two", "CONFIRM", CHECK.format(name)))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("thanks", THANKS),
        ("perfect, thank you very much!", THANKS),
        ("vielen Dank", "Gern geschehen."),
        ("hello", "Hello! How can I help you?"),
        ("ok", "What else can I do for you?"),
        ("no", "All right. Have a nice day!"),
        ("bye", "All right. Have a nice day!"),
        ("cancel", "Sorry, I did not understand that."),
        ("cancel my booking", "Sorry, I did not understand that."),
        ("purple elephants", "Sorry, I did not understand that."),
    ],
)
def test_after_the_end_the_last_answer_does_not_come_again(text: str, answer: str) -> None:
    caller = make_caller()
    book(caller)

    after = hold(caller, ("yes", "DONE", "Booked for Ann Bell."), (text, "DONE", answer))

    assert "name" not in after["context"]


@pytest.mark.parametrize("text", ["I'd like to book another one", "one more please", "book an appointment"])
def test_a_second_round_begins_empty_and_can_be_confirmed(text: str) -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("yes", "DONE", "Booked for Ann Bell."),
        ("thanks", "DONE", THANKS),
        (text, "COLLECT", "What is your name?"),
        ("Bob Hill", "COLLECT", "What is your number of persons?"),
        ("2", "CONFIRM", CHECK.format("Bob Hill")),
        ("yes", "DONE", "Booked for Bob Hill."),
    )


def test_a_question_after_the_end_is_answered_and_another_one_begins_after_it() -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("yes", "DONE", "Booked for Ann Bell."),
        ("what are your prices?", "IDLE", "80 pounds."),
        ("could I have another one?", "COLLECT", "What is your name?"),
    )


@pytest.mark.parametrize(
    "text", ["never mind", "forget it", "cancel", "oh, never mind then", "can you cancel my booking?"]
)
def test_a_form_without_values_is_left_at_once(text: str) -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        (text, "UNKNOWN", CANCELLED),
        ("purple elephants", "UNKNOWN", "Sorry, I did not understand that."),
        ("thanks", "UNKNOWN", THANKS),
        ("book an appointment", "COLLECT", "What is your name?"),
    )


def test_abandoning_values_asks_once_and_a_yes_leaves() -> None:
    caller = make_caller()
    caller.say("book an appointment")

    answer = hold(
        caller,
        ("Ann Bell", "COLLECT", "What is your number of persons?"),
        ("forget it", "COLLECT", ASK_LEAVE),
        ("yes please", "UNKNOWN", CANCELLED),
    )

    assert "name" not in answer["context"]
    assert caller.stages(3).count("FORM_LEAVE_ASKED") == 1
    assert {"FORM_LEFT", "FORM_CLEARED"} <= set(caller.stages(4))


@pytest.mark.parametrize("text", ["no, go on", "No, carry on please", "nein, weiter"])
def test_the_wish_to_go_on_is_a_no(text: str) -> None:
    caller = make_caller()
    caller.say("book an appointment")

    hold(
        caller,
        ("Ann Bell", "COLLECT", "What is your number of persons?"),
        ("cancel", "COLLECT", ASK_LEAVE),
        (text, "COLLECT", "What is your number of persons?"),
    )


def test_a_no_goes_on_with_the_open_question_and_counts_as_no_miss() -> None:
    caller = make_caller()
    caller.say("book an appointment")

    hold(
        caller,
        ("Ann Bell", "COLLECT", "What is your number of persons?"),
        ("cancel", "COLLECT", ASK_LEAVE),
        ("no", "COLLECT", "What is your number of persons?"),
        ("cancel", "COLLECT", ASK_LEAVE),
        ("2", "CONFIRM", CHECK.format("Ann Bell")),
    )


def test_a_yes_to_the_wish_to_leave_never_confirms_the_form() -> None:
    caller = make_caller()
    book(caller)

    hold(caller, ("stop", "CONFIRM", ASK_LEAVE), ("yes", "UNKNOWN", CANCELLED))


def test_nothing_that_is_like_a_yes_confirms_while_it_is_open() -> None:
    caller = make_caller()
    book(caller)

    hold(caller, ("stop", "CONFIRM", ASK_LEAVE), ("proceed", "CONFIRM", CHECK.format("Ann Bell")))


def test_a_no_to_it_at_the_confirmation_asks_for_the_confirmation_again() -> None:
    caller = make_caller()
    book(caller)

    hold(
        caller,
        ("stop", "CONFIRM", ASK_LEAVE),
        ("no", "CONFIRM", CHECK.format("Ann Bell")),
        ("perfect", "DONE", "Booked for Ann Bell."),
    )


@pytest.mark.parametrize("text", ["vergiss es", "abbrechen", "ach, lass es", "ich möchte abbrechen"])
def test_a_german_form_is_left_in_german(text: str) -> None:
    caller = make_caller(ZAHNARZT)

    hold(
        caller,
        ("Ich brauche einen Zahnarzt", "COLLECT", "An welchem Tag?"),
        (text, "UNKNOWN", "In Ordnung, ich habe es verworfen."),
        ("danke", "UNKNOWN", "Gern geschehen."),
        ("Termin vereinbaren", "COLLECT", "An welchem Tag?"),
        ("übermorgen", "CONFIRM", "Bitte prüfen Sie: Tag: "),
        (text, "CONFIRM", "Möchten Sie abbrechen?"),
        ("nein", "CONFIRM", "Bitte prüfen Sie: Tag: "),
        ("ja, passt", "DONE", "Notiert."),
        ("noch einen Termin bitte", "COLLECT", "An welchem Tag?"),
    )


TABLE = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a table"],
    "fields": [{"name": "guests", "title": "Number of guests", "type": "number", "question": "How many guests?"}],
    "answer": "See you.",
}  # fmt: skip
ASK_SWITCH = "Do you want to stop this and go on with “Book a table”?"


def make_caller_of_two() -> Caller:
    add_rows(write_rows(TABLE), author="ada", reason="second")
    return make_caller()


def test_a_change_of_subject_asks_once_and_a_yes_goes_on_with_the_other_form() -> None:
    caller = make_caller_of_two()
    caller.say("book an appointment")

    answer = hold(
        caller,
        ("Ann Bell", "COLLECT", "What is your number of persons?"),
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        ("no", "COLLECT", "What is your number of persons?"),
        ("actually I want to book a table", "COLLECT", ASK_SWITCH),
        ("yes", "COLLECT", "How many guests?"),
    )

    assert answer["intent"] == "TABLE"
    assert "name" not in answer["context"]


def test_a_form_without_values_is_left_for_another_at_once() -> None:
    caller = make_caller_of_two()

    answer = hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("I want to book a table", "COLLECT", "How many guests?"),
    )

    assert answer["intent"] == "TABLE"


def test_at_the_confirmation_another_subject_asks_too() -> None:
    caller = make_caller_of_two()
    book(caller)

    hold(caller, ("I want to book a table", "CONFIRM", ASK_SWITCH), ("no", "CONFIRM", CHECK.format("Ann Bell")))


def test_the_phrase_of_the_form_itself_is_neither_a_name_nor_a_miss() -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("I need to see a dentist", "COLLECT", "What is your name?"),
        ("Max Payne", "COLLECT", "What is your number of persons?"),
        ("I need to see a dentist", "COLLECT", "What is your number of persons?"),
    )


def test_a_question_after_the_end_is_not_answered_twice() -> None:
    caller = make_caller()

    hold(
        caller,
        ("what are your prices?", "IDLE", "80 pounds."),
        ("thanks a lot", "IDLE", THANKS),
        ("purple elephants", "IDLE", "Sorry, I did not understand that."),
        ("what are your prices?", "IDLE", "80 pounds."),
    )


def test_thanks_inside_a_form_repeat_the_question_without_a_reproach() -> None:
    caller = make_caller()

    hold(
        caller,
        ("book an appointment", "COLLECT", "What is your name?"),
        ("what?", "COLLECT", "Sorry, I did not understand that. What is your name?"),
        ("thanks", "COLLECT", "What is your name?"),
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("hi", "Hello! How can I help you?"),
        ("Guten Tag", "Hallo! Wie kann ich Ihnen helfen?"),
        ("thanks", THANKS),
        ("purple elephants", "Sorry, I did not understand that. Please say in other words"),
    ],
)
def test_a_new_conversation_may_begin_with_a_greeting(text: str, answer: str) -> None:
    hold(make_caller(), (text, "UNKNOWN", answer), ("book an appointment", "COLLECT", "What is your name?"))
