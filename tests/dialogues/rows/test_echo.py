"""What the bot repeats or offers, and what becomes of it when the user says no, yes, or something else."""

from typing import Any

import pytest
from django.utils.dateparse import parse_datetime

from tests.api import Caller
from tests.dialogues.rows.worlds import get_text, list_events, make_caller, say

pytestmark = pytest.mark.django_db

TABLE: dict[str, Any] = {
    "code": "TABLE", "title": "Book a table", "kind": "collect", "locale": "en-GB",
    "phrases": ["I want to book a table"],
    "fields": [
        {"name": "day", "title": "Day", "type": "date", "question": "Which day?"},
        {"name": "guests", "title": "Number of guests", "type": "number", "question": "How many guests?"},
        {"name": "outside", "title": "Outside", "type": "yes_no", "question": "Outside?"},
    ],
    "answer": "See you.",
}  # fmt: skip
OPENER, FRIDAY, SATURDAY = "I want to book a table", "2026-02-27", "2026-02-28"
#: Not all of it is understood, so that the bot repeats the day.
DAY = "my sister has her birthday party on Friday 27 February"


@pytest.fixture
def customer(settings: Any) -> Caller:
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": parse_datetime("2026-02-25T10:00:00+00:00")}
    return make_caller(TABLE)


@pytest.mark.parametrize(
    ("lines", "question", "values"),
    [
        pytest.param((DAY, "no"), "Which day?", {}, id="no empties what was repeated, and asks for it again"),
        pytest.param((DAY, "that's wrong"), "Which day?", {}, id="in other words"),
        pytest.param((DAY, "no", "Saturday"), "How many guests?", {"day": SATURDAY}, id="the next answer is for it"),
        pytest.param(
            (DAY, "no, Saturday"), "How many guests?", {"day": SATURDAY}, id="no and another value replaces it"
        ),
        pytest.param((DAY, "four"), "Outside?", {"day": FRIDAY, "guests": 4}, id="an answer leaves it"),
        pytest.param((DAY, "thanks", "no"), "How many guests?", {"day": FRIDAY}, id="later, a no is none to it"),
        pytest.param(("Friday", "no"), "How many guests?", {"day": FRIDAY}, id="what was not repeated stays"),
    ],
)
def test_a_no_right_after_an_echo_takes_it_back(
    lines: tuple[str, ...], question: str, values: dict[str, Any], customer: Caller
) -> None:
    answer = say(customer, OPENER, *lines)

    assert get_text(answer).endswith(question)
    assert {name: answer["context"][name] for name in ("day", "guests") if name in answer["context"]} == values


def test_a_no_that_answers_the_question_leaves_what_was_repeated(customer: Caller) -> None:
    say(customer, OPENER, "Friday")
    answer = say(customer, "my brother and I will be two persons for the concert", "no")

    assert answer["context"]["day"] == FRIDAY
    assert "guests" in answer["context"]
    assert answer["context"]["outside"] is False


def test_the_turn_tells_what_a_no_took_back(customer: Caller) -> None:
    say(customer, OPENER, DAY, "no")

    (event,) = list_events(customer, 3, "CORRECTION_STEP_CORRECTION_PATCH_APPLIED")
    assert (event["field"], event["value"], event["previousValue"]) == ("day", None, FRIDAY)


@pytest.mark.parametrize(
    ("lines", "ending", "values"),
    [
        pytest.param(("four guests",), "Outside?", {"guests": 4}, id="another field is asked for first"),
        pytest.param(
            ("four guests", "yes"),
            "Is that right?",
            {"day": FRIDAY, "guests": 4, "outside": True},
            id="the summary names it when nothing else is missing",
        ),
        pytest.param(("four guests", "yes", "yes"), "See you.", {}, id="and a yes to that confirms it"),
        pytest.param(
            ("four guests", "on Saturday"), "Outside?", {"day": SATURDAY, "guests": 4}, id="another value replaces it"
        ),
        pytest.param(("no", "four guests"), "Which day?", {"guests": 4}, id="a no ends it"),
        pytest.param(("yes",), "How many guests?", {"day": FRIDAY}, id="a yes takes it at once"),
    ],
)
def test_an_unanswered_offer_stays_open_while_the_user_goes_on(
    lines: tuple[str, ...], ending: str, values: dict[str, Any], customer: Caller
) -> None:
    assert "Do you mean Friday" in get_text(say(customer, OPENER, "maybe Friday"))

    answer = say(customer, *lines)

    assert get_text(answer).endswith(ending)
    names = ("day", "guests", "outside")
    assert {name: answer["context"][name] for name in names if name in answer["context"]} == values
