"""A wish for a person leaves a form, whatever phrase says it, with the form's own text: docs/forms.md."""

from typing import Any

import pytest

from convengine.server.sessions.models import CeConversation
from tests.dialogues.rows.worlds import DENTIST, TABLE, hold, make_caller, reach_confirmation, say

pytestmark = pytest.mark.django_db

DESK: dict[str, Any] = {**DENTIST, "hand_over": "The desk of the dentist will call you."}
PERSON: dict[str, Any] = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["I want to talk to a person", "get me a human", "let me see who owns this"],
    "answer": "One moment, I pass you on.",
}  # fmt: skip
#: As in many bots: where to reach somebody is one of the questions that are answered and return to the form.
CONTACT = {"questions": ["can I talk to a human", "human", "who is your manager"], "answer": "By phone."}
WISHES = (
    "human",
    "talk to a human please",
    "your manager",
    "I'd like to speak to somebody",
    "put me through to someone",
)


@pytest.mark.parametrize("wish", WISHES)
def test_no_question_in_between_keeps_the_user_in_the_form(wish: str) -> None:
    flow = {**DESK, "questions_and_answers": [*DENTIST["questions_and_answers"], CONTACT]}
    caller = make_caller(flow)
    say(caller, "book an appointment", "Ann Bell")

    answer = hold(caller, (wish, "HAND_OVER", DESK["hand_over"]))

    assert answer["context"]["handover"] is True
    assert "name" not in answer["context"]


@pytest.mark.parametrize("wish", [*WISHES, "let me see who owns this"])
def test_the_text_of_the_form_comes_before_that_of_the_flow_that_hands_over(wish: str) -> None:
    caller = make_caller(DESK, TABLE, PERSON)
    say(caller, "book an appointment", "Ann Bell")

    hold(caller, (wish, "HAND_OVER", DESK["hand_over"]))

    assert CeConversation.objects.get().context_json["handover"] is True


@pytest.mark.parametrize("wish", WISHES)
def test_a_form_without_such_a_text_has_that_of_the_flow_that_hands_over(wish: str) -> None:
    caller = make_caller(TABLE, PERSON)
    say(caller, "I want to book a table")

    assert hold(caller, (wish, "HAND_OVER", PERSON["answer"]))["intent"] == "PERSON"


def test_a_text_is_no_wish_only_because_it_was_asked_for() -> None:
    caller = make_caller(DESK)
    hold(caller, ("book an appointment", "COLLECT", "What is your name?"), ("human", "HAND_OVER", DESK["hand_over"]))
    hold(caller, ("book an appointment", "COLLECT", "What is your name?"))

    assert say(caller, "Ann Manager")["context"]["name"] == "Ann Manager"


def test_the_confirmation_and_the_question_whether_to_stop_are_left_as_well() -> None:
    caller = make_caller(DESK, PERSON)
    reach_confirmation(caller)
    hold(caller, ("talk to a human please", "HAND_OVER", DESK["hand_over"]))
    reach_confirmation(caller)
    hold(caller, ("forget it", "CONFIRM", "Do you want to stop?"), ("your manager", "HAND_OVER", DESK["hand_over"]))


def test_outside_of_forms_such_a_question_is_answered() -> None:
    caller = make_caller({**DESK, "questions_and_answers": [CONTACT]})

    assert say(caller, "human")["payload"]["value"] == "By phone."
