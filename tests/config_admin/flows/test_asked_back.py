"""A move that is likely and not sure enough for what it would do is asked back (understanding.md)."""

from typing import Any

import pytest

from tests.api import Caller
from tests.dialogues.rows.worlds import ASK_GUESTS, CHECK, DENTIST, make_caller

pytestmark = pytest.mark.django_db

PERSON = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["talk to a person"], "answer": "One moment.",
}  # fmt: skip
AGAIN = "Just to be sure: Name: Ann Bell, Number of persons: 2. Shall I go ahead?"
ASK_LEAVE = "Do you want to stop? Then I will drop what you have told me so far."


def say(caller: Caller, *texts: str) -> tuple[str, str]:
    """The state and the answer after these messages."""
    answer: dict[str, Any] = {}
    for text in texts:
        answer = caller.say(text)
    return answer["state"], answer["payload"]["value"]


@pytest.mark.parametrize("text", ["it is all fine I hope", "yes, for the sake of peace"])
def test_after_an_unsure_yes_the_summary_is_told_in_other_words(text: str) -> None:
    caller = make_caller()
    assert say(caller, "book an appointment", "Ann Bell", "two") == ("CONFIRM", CHECK)

    assert say(caller, text) == ("CONFIRM", AGAIN)
    assert say(caller, "yes") == ("DONE", "Booked for Ann Bell.")


@pytest.mark.parametrize("text", ["that is how we want it", "sounds like a good plan to us, thank you"])
def test_a_yes_in_any_words_confirms(text: str) -> None:
    assert say(make_caller(), "book an appointment", "Ann Bell", "two", text) == ("DONE", "Booked for Ann Bell.")


@pytest.mark.parametrize("text", ["we are not pleased with all of it", "fine with us if my sister comes, too"])
def test_a_denial_and_a_condition_confirm_nothing(text: str) -> None:
    state, _ = say(make_caller(), "book an appointment", "Ann Bell", "two", text)
    assert state == "CONFIRM"


def test_a_perhaps_stops_only_after_a_question() -> None:
    caller = make_caller()
    assert say(caller, "book an appointment", "Ann Bell", "this is going nowhere") == ("COLLECT", ASK_LEAVE)
    assert say(caller, "no") == ("COLLECT", ASK_GUESTS)


def test_a_perhaps_reaches_a_person_only_after_a_question() -> None:
    caller = make_caller(DENTIST, PERSON)
    question = "Do you want to stop this and go on with “Talk to a person”?"
    assert say(caller, "book an appointment", "Ann Bell", "somebody should look at this") == ("COLLECT", question)
    assert say(caller, "yes") == ("HAND_OVER", "One moment.")
