"""Which intent is meant is asked, and the message that the question is about begins the form that is chosen."""

from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from tests.api import Caller
from tests.dialogues.rows.worlds import answer_by_model, find_event, get_text, make_caller, make_setting, say

pytestmark = pytest.mark.django_db

TABLE: dict[str, Any] = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a table", "reserve a table for dinner"],
    "fields": [
        {"name": "guests", "title": "Number of guests", "type": "number", "question": "How many guests?"},
        {"name": "day", "title": "Day", "type": "date", "question": "Which day?"},
        {"name": "note", "title": "Note", "type": "text", "question": "Any wishes?"},
    ],
    "answer": "See you.",
}  # fmt: skip
ROOM: dict[str, Any] = {
    "code": "ROOM", "title": "Book a room", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a room", "reserve a room for the night"],
    "fields": [
        {"name": "arrival", "title": "Arrival", "type": "date", "question": "When do you arrive?"},
        {"name": "nights", "title": "Number of nights", "type": "number", "question": "How many nights?"},
        {"name": "breakfast", "title": "Breakfast", "type": "yes_no", "question": "With breakfast?"},
    ],
    "answer": "Good night.",
}  # fmt: skip
NEAR, EITHER = "I'd like a table for four on Friday", "I have to make a reservation for four on Friday"
FRIDAY = "2026-02-27"
ASKED = {NEAR: "Do you mean Book a table?", EITHER: "Do you mean Book a table or Book a room?"}
FOUR_ON_FRIDAY = {"guests": 4, "day": FRIDAY}
#: A word of both intents, so that they collide.
PATTERNS = [
    {"intent_code": intent, "state_code": "COLLECT", "rule_type": "CONTAINS", "pattern": "reservation"}
    for intent in ("TABLE", "ROOM")
]


@pytest.fixture(autouse=True)
def wednesday(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": parse_datetime("2026-02-25T10:00:00+00:00")}


def make_inn(*flows: dict[str, Any], **rows: list[dict[str, Any]]) -> Caller:
    return make_caller(*(flows or (TABLE, ROOM)), rows={"ce_intent_classifier": PATTERNS, **rows})


def list_values(answer: dict[str, Any]) -> dict[str, Any]:
    named = {field["name"] for flow in (TABLE, ROOM) for field in flow["fields"]}
    return {name: value for name, value in answer["context"].items() if name in named}


@pytest.mark.parametrize(
    ("first", "reply", "intent", "values"),
    [
        pytest.param(NEAR, "yes", "TABLE", FOUR_ON_FRIDAY, id="yes"),
        pytest.param(NEAR, "yes please", "TABLE", FOUR_ON_FRIDAY, id="a polite yes"),
        pytest.param(NEAR, "TABLE", "TABLE", FOUR_ON_FRIDAY, id="the value of the button"),
        pytest.param(NEAR, "Book a table", "TABLE", FOUR_ON_FRIDAY, id="the label of the button"),
        pytest.param(NEAR, "yes, for five", "TABLE", {"guests": 5, "day": FRIDAY}, id="a yes that changes a value"),
        pytest.param(NEAR, "I want to book a table", "TABLE", FOUR_ON_FRIDAY, id="a phrase of the intent"),
        pytest.param(EITHER, "1", "TABLE", FOUR_ON_FRIDAY, id="a number that is no value"),
        pytest.param(EITHER, "the second one", "ROOM", {"nights": 4, "arrival": FRIDAY}, id="a place in the list"),
        pytest.param(EITHER, "book a table", "TABLE", FOUR_ON_FRIDAY, id="a name"),
        pytest.param(EITHER, "a table, and make it five", "TABLE", {"guests": 5, "day": FRIDAY}, id="a name and more"),
    ],
)
def test_the_form_that_is_chosen_begins_with_what_was_said_before(
    first: str, reply: str, intent: str, values: dict[str, Any]
) -> None:
    caller = make_inn()
    assert get_text(caller.say(first)) == ASKED[first]
    answer = caller.say(reply)
    assert (answer["intent"], list_values(answer)) == (intent, values)
    positions = {item["field"]: item for item in find_event(caller, 2, "FIELDS_READ")["positions"]}
    assert (positions[next(reversed(values))]["why"], positions[next(reversed(values))]["end"]) == ("EARLIER", 0)


@pytest.mark.parametrize(
    ("first", "reply", "intent", "values"),
    [
        pytest.param(NEAR, "no", "UNKNOWN", {}, id="no"),
        pytest.param(EITHER, "neither", "UNKNOWN", {}, id="neither of two"),
        pytest.param(NEAR, "I want to book a room", "ROOM", {}, id="another intent"),
        pytest.param(NEAR, "book a room on Saturday", "ROOM", {"arrival": "2026-02-28"}, id="with values of its own"),
    ],
)
def test_a_reply_that_chooses_nothing_is_read_as_itself(
    first: str, reply: str, intent: str, values: dict[str, Any]
) -> None:
    answer = say(make_inn(), first, reply)
    assert (answer["intent"], list_values(answer)) == (intent, values)
    assert "asked_about" not in answer["context"].get("dialogue", {})


def test_the_message_lasts_as_long_as_the_question() -> None:
    caller = make_inn()
    assert get_text(say(caller, EITHER, "hm")) == ASKED[EITHER]
    assert list_values(caller.say("the first one")) == FOUR_ON_FRIDAY
    assert "asked_about" not in say(caller, "no wishes")["context"]["dialogue"]


def test_a_message_that_asks_to_leave_a_form_begins_the_next_one() -> None:
    room = ROOM | {"phrases": [*ROOM["phrases"], "I need a room with breakfast"], "on_leave": "ASK"}
    caller = make_inn(TABLE, room)
    say(caller, "I want to book a room", "on Friday")
    assert "go on with “Book a table”" in get_text(caller.say("I want to book a table for ten guests"))
    answer = caller.say("yes")
    assert (answer["intent"], list_values(answer)) == ("TABLE", {"guests": 10})


def test_a_model_reads_the_earlier_message_too() -> None:
    prompt = {
        "intent_code": "TABLE", "state_code": "COLLECT", "response_type": "SCHEMA_JSON",
        "system_prompt": "Read.", "user_prompt": "{{ user_input }}",
    }  # fmt: skip
    settings = [make_setting("DialogueActStep/RESOLUTE", "REGEX_ONLY")]
    caller = make_inn(ce_prompt_template=[prompt], ce_config=settings)
    say(caller, NEAR)
    with answer_by_model(SCHEMA_EXTRACTION={"guests": 4}):
        assert list_values(caller.say("yes")) == {"guests": 4}
    assert find_event(caller, 2, "SCHEMA_EXTRACTION_LLM_INPUT")["user_prompt"] == f"{NEAR}\nyes"
