"""A model set beside a form that the pages make: it is asked for words that the tables leave open, and nothing else."""

import json
from typing import Any

import pytest

from config_admin import models as m
from tests.api import Caller
from tests.dialogues.beside_model import find_event, talk_beside_model
from tests.fakes.openai_server import Says

pytestmark = pytest.mark.django_db
KINDS = ("city", "mountain", "cargo")
FLOW = {
    "code": "RENT_BIKE",
    "title": "Rent a bicycle",
    "kind": "collect",
    "locale": "en-GB",
    "phrases": ["I want to rent a bike", "bike rental please"],
    "fields": [
        {
            "name": "bike",
            "title": "Bicycle",
            "type": "choice",
            "question": "Which bicycle: city, mountain or cargo?",
            "options": [{"value": kind, "label": kind.title(), "synonyms": []} for kind in KINDS],
        },
        {"name": "day", "title": "Day", "type": "date", "min": "today", "max": "today+60d", "question": "Which day?"},
        {"name": "time", "title": "Time", "type": "time", "min": "09:00", "max": "18:00", "question": "At what time?"},
        {"name": "bikes", "title": "Number of bicycles", "type": "number", "min": 1, "max": 6, "question": "How many?"},
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "phone", "title": "Phone", "type": "phone", "country": "GB", "question": "Which phone number?"},
        {"name": "email", "title": "E-mail", "type": "email", "question": "Which e-mail address?", "required": False},
        {"name": "helmet", "title": "Helmet", "type": "yes_no", "question": "Would you like a helmet?"},
    ],
    "confirmation": "Shall I book it?",
    "on_no": "ASK_WHAT_TO_CHANGE",
    "answer": "Your bicycle is booked.",
    "hand_over": "I pass you to a colleague.",
    "max_misses": 3,
    "questions_and_answers": [{"questions": ["what does it cost"], "answer": "A day costs 20 pounds."}],
}  # fmt: skip
PLAIN = [
    *("I want to rent a bike", "cargo", "tomorrow", "10:30", "what does it cost", "2", "Ann Bell", "020 7946 0018"),
    *("ann.bell@example.com", "no thanks", "yes"),
]

DETERMINISTIC = [
    ("SchemaExtractionStep", "EXTRACTOR", "DETERMINISTIC"),
    ("DialogueActStep", "RESOLUTE", "REGEX_ONLY"),
]


def find_read(caller: Caller, turn: int) -> dict[str, Any]:
    """The payload of FIELDS_READ of a turn."""
    return find_event(caller, turn, "FIELDS_READ")


def test_eleven_plain_messages_make_no_call() -> None:
    with talk_beside_model(FLOW, {}) as (caller, server):
        answers = [caller.say(text) for text in PLAIN]

    assert [answer["success"] for answer in answers] == [True] * len(PLAIN)
    assert "Your bicycle is booked." in answers[-1]["payload"]["value"]
    assert server.requests == []


def test_each_message_with_something_unexplained_makes_one_call_that_fills_its_field() -> None:
    findings = (
        {"fields": {"bike": {"words": "whatever my gran would laugh at", "means": "Cargo"}}},
        {"fields": {"time": {"words": "10:30", "means": "10:30"}}},
        {"fields": {"name": {"words": "Ann Bell", "means": "Ann Bell"}}},
    )
    with talk_beside_model(FLOW, *findings) as (caller, server):
        caller.say("I want to rent a bike")
        offer = caller.say("well, whatever my gran would laugh at")
        assert offer["context"]["dialogue"]["offered"] == {"bike": "cargo"}
        assert "Do you mean Cargo?" in offer["payload"]["value"]
        caller.say("yes")
        caller.say("tomorrow")
        time = caller.say("if my sister lets me borrow her van then 10:30 would suit her too")
        caller.say("2")
        name = caller.say("perhaps Ann Bell, unless the reservation needs my husband")

    assert len(server.requests) == 3
    assert offer["context"].get("bike") is None
    assert time["context"]["time"] == "10:30"
    assert "10:30" in time["payload"]["value"]
    assert name["context"] | {"bike": "cargo", "name": "Ann Bell"} == name["context"]
    assert find_read(caller, 5)["by"] == {"time": "MODEL"}


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        pytest.param({"bike": {"words": "mountain", "means": "Mountain"}}, "NOT_IN_MESSAGE", id="invented words"),
        pytest.param({"bike": {"words": "ever", "means": "City"}}, "NOT_IN_MESSAGE", id="a part of a word"),
        pytest.param({"bike": {"words": "blue", "means": "blue"}}, "NO_VALUE", id="no option"),
        pytest.param({"colour": {"words": "blue", "means": "blue"}}, None, id="a field that does not exist"),
        pytest.param({"bike": "blue"}, "NO_VALUE", id="words alone"),
        pytest.param({"bike": 7, "day": None}, None, id="unreadable"),
    ],
)
def test_what_the_message_does_not_say_is_dropped(finding: dict[str, Any], reason: str | None) -> None:
    with talk_beside_model(FLOW, {"fields": finding}) as (caller, server):
        caller.say("I want to rent a bike")
        answer = caller.say("whatever is blue and light")
        rejected = find_rejected(caller, 2)

    assert len(server.requests) == 1
    assert answer["context"].keys().isdisjoint({"bike", "colour", "day"})
    assert rejected == ({"bike": reason} if reason else {})


def test_a_value_out_of_bounds_is_refused_and_asked_again() -> None:
    with talk_beside_model(FLOW, {"fields": {"bikes": {"words": "40", "means": "40"}}}) as (caller, _):
        for text in ("I want to rent a bike", "city", "tomorrow", "10:30"):
            caller.say(text)
        answer = caller.say("if the whole club comes along we would be 40 cyclists from Kent")

    assert "bikes" not in answer["context"]
    assert answer["context"]["dialogue"]["asked_field"] == "bikes"


def test_words_of_another_field_are_dropped_and_a_held_value_is_only_offered() -> None:
    findings = {"name": {"words": "tomorrow", "means": "tomorrow"}, "bike": {"words": "mountain", "means": "Mountain"}}
    with talk_beside_model(FLOW, {"fields": findings}) as (caller, _):
        caller.say("I want to rent a bike")
        caller.say("city")
        answer = caller.say("tomorrow, and my brother rode a mountain one")

    assert answer["context"]["bike"] == "city"
    assert answer["context"]["day"] == "2026-11-24"
    assert "name" not in answer["context"]


@pytest.mark.parametrize("answer", [Says("broken", 500), Says("no JSON at all")], ids=["out", "no JSON"])
def test_a_failed_model_leaves_what_the_tables_read(answer: Says) -> None:
    with talk_beside_model(FLOW, {}) as (caller, server):
        server.answers = [answer]
        caller.say("I want to rent a bike")
        heard = caller.say("cargo, the kids need to fit in")

    assert heard["success"]
    assert heard["context"]["bike"] == "cargo" or heard["context"]["dialogue"]["offered"] == {"bike": "cargo"}


def test_deterministic_asks_no_model() -> None:
    with talk_beside_model(FLOW, {}) as (caller, server):
        for kind, key, value in DETERMINISTIC:
            m.CeConfig.objects.create(config_type=kind, config_key=key, config_value=value)
        caller.say("I want to rent a bike")
        caller.say("give me the one for hauling stuff around")

    assert server.requests == []


def say_until(caller: Caller, asked_field: str) -> None:
    """Answer plainly until the form asks for a field; "" for the confirmation."""
    values = dict(zip([field["name"] for field in FLOW["fields"]], PLAIN[1:4] + PLAIN[5:], strict=False))  # type: ignore[call-overload]
    answer = caller.say(PLAIN[0])
    while asked := answer["context"]["dialogue"].get("asked_field"):
        if asked == asked_field:
            return
        answer = caller.say(values[asked])


def find_rejected(caller: Caller, turn: int) -> Any:
    """Why words of the model were dropped in a turn."""
    return find_event(caller, turn, "SCHEMA_EXTRACTION_LLM_OUTPUT")["rejectedReasons"]


def make_move(move: str, words: str, **more: str) -> dict[str, Any]:
    """The answer of a model that finds one move."""
    return {"moves": [{"move": move, "words": words, **more}]}


def test_a_skip_in_unknown_words_leaves_the_optional_field_empty_with_one_call() -> None:
    with talk_beside_model(FLOW, make_move("SKIP", "my inbox is full enough")) as (caller, server):
        say_until(caller, "email")
        answer = caller.say("ah, my inbox is full enough")

    assert len(server.requests) == 1
    assert answer["context"]["email"] is None
    assert answer["context"]["dialogue"]["asked_field"] == "helmet"
    assert answer["payload"]["value"] == "Would you like a helmet?"


@pytest.mark.parametrize(("move", "is_wanted"), [("AFFIRM", True), ("NEGATE", False)])
def test_a_yes_or_no_in_unknown_words_answers_the_asked_yes_no_field_and_is_repeated(
    move: str, is_wanted: bool
) -> None:
    with talk_beside_model(FLOW, make_move(move, "my mother would insist")) as (caller, server):
        say_until(caller, "helmet")
        answer = caller.say("my mother would insist")

    assert len(server.requests) == 1
    assert answer["context"]["helmet"] is is_wanted
    assert answer["payload"]["value"].endswith(f"Helmet: {'yes' if is_wanted else 'no'}. Shall I book it?")


def test_a_filled_field_is_emptied_by_its_name() -> None:
    with talk_beside_model(FLOW, make_move("CLEAR", "wipe my mail thing", field="email")) as (caller, _):
        say_until(caller, "helmet")
        answer = caller.say("wipe my mail thing")

    assert answer["context"]["email"] is None
    assert answer["context"]["dialogue"]["asked_field"] == "helmet"


def test_a_wish_for_a_person_hands_over() -> None:
    with talk_beside_model(FLOW, make_move("PERSON", "put your boss on the line")) as (caller, _):
        say_until(caller, "day")
        answer = caller.say("put your boss on the line")

    assert answer["payload"]["value"] == "I pass you to a colleague."


def test_a_wish_to_leave_is_asked_back() -> None:
    with talk_beside_model(FLOW, make_move("LEAVE", "the whole plan is off")) as (caller, _):
        say_until(caller, "day")
        answer = caller.say("the whole plan is off")
        stayed = caller.say("no")

    assert answer["payload"]["value"].startswith("Do you want to stop?")
    assert (answer["context"]["bike"], stayed["context"]["dialogue"]["asked_field"]) == ("cargo", "day")


@pytest.mark.parametrize(
    ("said", "question"),
    [
        pytest.param(
            Says(json.dumps(make_move("LEAVE", "going nowhere"))), "Do you want to stop?", id="it is a wish to leave"
        ),
        pytest.param(Says(json.dumps({"fields": {}})), "Sorry, I did not understand that.", id="it is none"),
        pytest.param(Says("oh", status=401), "Do you want to stop?", id="without an answer it is asked back"),
    ],
)
def test_a_model_decides_whether_a_doubtful_message_wants_to_leave(said: Says, question: str) -> None:
    with talk_beside_model(FLOW, {}) as (caller, server):
        say_until(caller, "day")
        server.answers, server.requests[:] = [said], []
        answer = caller.say("this is going nowhere")

    assert (len(server.requests), answer["payload"]["value"][: len(question)]) == (1, question)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(make_move("SKIP", "not this one"), {"SKIP": "NOT_IN_MESSAGE"}, id="invented words"),
        pytest.param(make_move("SKIP", "blue and light"), {"SKIP": "NOT_POSSIBLE"}, id="a required field"),
        pytest.param(make_move("AFFIRM", "blue"), {"AFFIRM": "NOT_POSSIBLE"}, id="no yes/no field"),
        pytest.param(make_move("CLEAR", "blue", field="day"), {"CLEAR": "NOT_POSSIBLE"}, id="an empty field"),
        pytest.param(
            make_move("CLEAR", "blue", field="dialogue"), {"CLEAR": "NOT_POSSIBLE"}, id="no field of the form"
        ),
        pytest.param(make_move("BOOK", "blue"), {}, id="no move"),
        pytest.param({"moves": [7, {"move": "SKIP", "words": 7}]}, {}, id="unreadable"),
        pytest.param({"moves": "SKIP", "fields": []}, {}, id="no lists"),
    ],
)
def test_a_move_that_is_not_said_or_has_no_effect_is_dropped(answer: dict[str, Any], reason: dict[str, str]) -> None:
    with talk_beside_model(FLOW, answer) as (caller, server):
        caller.say("I want to rent a bike")
        asked = caller.say("whatever is blue and light")
        rejected = find_rejected(caller, 2)

    assert (len(server.requests), rejected) == (1, reason)
    assert asked["context"]["dialogue"]["asked_field"] == "bike"


def test_an_invented_yes_at_the_confirmation_runs_nothing() -> None:
    answers = [{**make_move("AFFIRM", "lovely weather"), "dialogueAct": "AFFIRM", "confidence": 0.99}] * 3
    with talk_beside_model(FLOW, *answers) as (caller, _):
        say_until(caller, "")
        answer = caller.say("lovely weather over there")

    assert "Your bicycle is booked." not in answer["payload"]["value"]
    assert answer["state"] == "CONFIRM"


REPORT: dict[str, Any] = {
    **FLOW,
    "code": "REPORT",
    "title": "Report a loss",
    "phrases": ["I want to report a loss"],
    "questions_and_answers": [],
    "fields": [
        {"name": "day", "title": "Day", "type": "date", "question": "On which day?"},
        {"name": "story", "title": "What happened", "type": "long_text", "question": "What happened?"},
        {"name": "place", "title": "Town", "type": "text", "question": "In which town?"},
        {"name": "email", "title": "E-mail", "type": "email", "question": "Which e-mail address?"},
    ],
}


def test_a_told_text_stays_whole_and_the_model_finds_the_open_values_in_it() -> None:
    story = "my bag vanished while I was changing trains over in Leeds"
    finding = {
        "fields": {
            "place": {"words": "Leeds", "means": "Leeds"},
            "email": {"words": "jo@example.com", "means": "jo@example.com"},
            "day": {"words": "changing trains", "means": "2026-11-20"},
        }
    }
    with talk_beside_model(REPORT, finding) as (caller, server):
        caller.say("I want to report a loss")
        caller.say("21 November 2026")
        answer = caller.say(story)

    assert len(server.requests) == 1
    context = answer["context"]
    # A value whose words are not in the message is refused, and what is told replaces nothing.
    assert (context["story"], context["place"], context["day"]) == (story, "Leeds", "2026-11-21")
    assert "email" not in context
    assert "Which e-mail address?" in answer["payload"]["value"]


def test_a_long_opener_asks_the_model_once_for_what_was_missed() -> None:
    opener = "I want to report a loss and would like it to be sorted out as soon as possible"
    with talk_beside_model(REPORT, *[{"fields": {}}] * 3) as (caller, server):
        caller.say(opener)

    reading = [each for each in server.requests if "You read one message" in each["messages"][0]["content"]]
    assert len(reading) == 1
