"""A message that is a phrase as a whole is its intent, whatever is only likely: a learned move, a doubt, an option."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from convengine.engine.understanding.sentences import LearnedPart, rate
from tests.api import Caller
from tests.dialogues.play import store_flows

pytestmark = pytest.mark.django_db
FORM = {
    "code": "ORDER", "title": "Order a chair", "kind": "collect", "locale": "en-GB", "phrases": ["order a chair"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "wood", "title": "Wood", "type": "choice", "question": "Which wood?",
         "options": [{"value": "oak"}, {"value": "ash"}]},
        {"name": "count", "title": "Number", "type": "number", "min": 1, "max": 9, "question": "How many?"},
        {"name": "gift", "title": "Gift", "type": "yes_no", "question": "Is it a gift?"},
        {"name": "note", "title": "Note", "type": "text", "required": False, "question": "Anything else?"},
    ],
    "confirmation": "Shall I order it?", "answer": "Ordered.",
}  # fmt: skip
#: What is said before each question.
ANSWERS = ("order a chair", "Ann Lee", "oak", "3", "yes", "no")
ASKED = ("name", "wood", "count", "gift", "note")
#: Each phrase, and the learned move that is likeliest for it.
PHRASES = {
    "I want to return it": "LEAVE",
    "I don't need it any more": "LEAVE",
    "that sounds about right to me": "AFFIRM",
    "I would like to begin a new order": "RESTART",
    "change my plan": "CORRECT",
    "I made a mistake in my order": "CORRECT",
    "how do I get rid of it": "HELP",
    "make it quick please": "WAIT",
    "say that once more for me": "REPEAT",
}
#: Phrases against what is likely besides learned moves: the question what there is, a value out of bounds, a denial.
OTHERS = ("which woods do you have", "I would like 20 chairs for a hall", "I don't want to pay now")


class Case(NamedTuple):
    """A phrase, and the question that is open when it is said."""

    phrase: str
    asked: str


CASES = [Case(phrase, asked) for phrase in (*PHRASES, *OTHERS) for asked in (*ASKED, "confirmation")]


@pytest.mark.parametrize("phrase", PHRASES)
def test_the_phrases_of_the_cases_are_likely_moves(phrase: str) -> None:
    rated = rate(LearnedPart.MOVES, phrase)
    assert max(rated, key=lambda name: rated[name]) == PHRASES[phrase]


@pytest.mark.parametrize("kind", ["answer", "collect"])
@pytest.mark.parametrize("case", CASES, ids=[f"{case.phrase} at {case.asked}" for case in CASES])
def test_a_phrase_as_a_whole_is_its_intent_inside_a_form(case: Case, kind: str) -> None:
    caller = begin(kind, [case.phrase], case.asked)
    said = caller.say(case.phrase)

    answer = said["payload"]["value"]
    if kind == "answer":
        assert answer.startswith("That is how.")
        assert (said["intent"], said["state"]) == ("ORDER", "CONFIRM" if case.asked == "confirmation" else "COLLECT")
    elif case.asked == "name":
        assert said["intent"] == "OTHER"
    else:
        assert "Another wish" in answer
    assert said["context"].get("name") == (None if case.asked == "name" else "Ann Lee")


@pytest.mark.parametrize("asked", [*ASKED, "confirmation"])
def test_a_likely_wish_to_leave_is_asked_back_when_nothing_else_claims_the_message(asked: str) -> None:
    said = begin("answer", ["where are you"], asked).say("I want to return it")
    assert said["context"]["dialogue"].get("leaving") is not None or asked in ("name", "note")


@pytest.mark.parametrize("say", ["please tell me where you are", "where are you please, I want to return it"])
def test_a_likely_wish_to_leave_does_not_hide_a_question_in_between(say: str) -> None:
    said = begin("answer", ["where are you"], "wood").say(say)
    assert said["payload"]["value"].startswith("That is how.")


def begin(kind: str, phrases: Sequence[str], asked: str) -> Caller:
    """A conversation in the form at a question, beside another flow with these phrases."""
    other: dict[str, Any] = {
        "code": "OTHER", "title": "Another wish", "kind": kind, "locale": "en-GB", "phrases": phrases,
        "answer": "That is how.",
    }  # fmt: skip
    other |= {"fields": [{"name": "day", "title": "Day", "type": "date"}]} if kind == "collect" else {}
    store_flows({"time_zone": "Europe/London", "locale": "en-GB", "flows": [FORM, other]})
    caller = Caller()
    for text in ANSWERS[: 1 + (*ASKED, "confirmation").index(asked)]:
        last = caller.say(text)
    assert (last["context"]["dialogue"].get("asked_field") or "confirmation") == asked
    return caller
