"""A move that is likely and not sure enough for what it would do is asked back (understanding.md)."""

from collections.abc import Callable
from typing import Any

import pytest

from convengine.engine.understanding import learned_moves
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.sentences import ASKS
from tests.api import Caller
from tests.dialogues.rows.worlds import ASK_GUESTS, CHECK, DENTIST, make_caller

pytestmark = pytest.mark.django_db

PERSON = {
    "code": "PERSON", "title": "Talk to a person", "kind": "handover", "locale": "en-GB",
    "phrases": ["talk to a person"], "answer": "One moment.",
}  # fmt: skip
AGAIN = "Just to be sure: Name: Ann Bell, Number of persons: 2. Shall I go ahead?"
ASK_SWITCH = "Do you want to stop this and go on with “Talk to a person”?"
ASK_LEAVE = "Do you want to stop? Then I will drop what you have told me so far."


def say(caller: Caller, *texts: str) -> tuple[str, str]:
    """The state and the answer after these messages."""
    answer: dict[str, Any] = {}
    for text in texts:
        answer = caller.say(text)
    return answer["state"], answer["payload"]["value"]


@pytest.fixture
def rate_clauses(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Rates every clause as a move with a probability, whatever it says: the limits matter here, not the sentences."""

    def rate_as(kind: MoveKind, probability: float) -> None:
        monkeypatch.setattr(learned_moves, "rate", lambda subject, text: {kind.value: probability, ASKS: 0.0})

    return rate_as


@pytest.mark.parametrize("probability", [0.41, 0.69])
def test_after_an_unsure_yes_the_summary_is_told_in_other_words(
    rate_clauses: Callable[..., None], probability: float
) -> None:
    caller = make_caller()
    assert say(caller, "book an appointment", "Ann Bell", "two") == ("CONFIRM", CHECK)

    rate_clauses(MoveKind.AFFIRM, probability)
    assert say(caller, "we are very pleased with all of it") == ("CONFIRM", AGAIN)
    assert say(caller, "yes") == ("DONE", "Booked for Ann Bell.")


def test_a_message_that_begins_with_a_yes_hears_the_summary_again_where_words_are_left() -> None:
    caller = make_caller()
    assert say(caller, "book an appointment", "Ann Bell", "two", "yes, for the sake of peace") == ("CONFIRM", AGAIN)
    assert say(caller, "yes") == ("DONE", "Booked for Ann Bell.")


@pytest.mark.parametrize("text", ["that is how we want it", "sounds like a good plan to us, thank you"])
def test_a_yes_in_any_words_confirms(text: str) -> None:
    assert say(make_caller(), "book an appointment", "Ann Bell", "two", text) == ("DONE", "Booked for Ann Bell.")


@pytest.mark.parametrize("text", ["we are not pleased with all of it", "fine with us if my sister comes, too"])
def test_a_denial_and_a_condition_confirm_nothing(text: str) -> None:
    state, _ = say(make_caller(), "book an appointment", "Ann Bell", "two", text)
    assert state == "CONFIRM"


@pytest.mark.parametrize("probability", [0.41, 0.59])
def test_a_perhaps_stops_only_after_a_question(rate_clauses: Callable[..., None], probability: float) -> None:
    caller = make_caller()
    say(caller, "book an appointment", "Ann Bell")

    rate_clauses(MoveKind.LEAVE, probability)
    assert say(caller, "that is too much for me now") == ("COLLECT", ASK_LEAVE)
    assert say(caller, "no") == ("COLLECT", ASK_GUESTS)


@pytest.mark.parametrize("probability", [0.41, 0.59])
def test_a_perhaps_reaches_a_person_only_after_a_question(
    rate_clauses: Callable[..., None], probability: float
) -> None:
    caller = make_caller(DENTIST, PERSON)
    say(caller, "book an appointment", "Ann Bell")

    rate_clauses(MoveKind.PERSON, probability)
    assert say(caller, "can your boss do this") == ("COLLECT", ASK_SWITCH)
    assert say(caller, "yes") == ("HAND_OVER", "One moment.")


@pytest.mark.parametrize(
    ("kind", "state", "answer"),
    [(MoveKind.LEAVE, "COLLECT", ASK_LEAVE), (MoveKind.PERSON, "HAND_OVER", "One moment.")],
)
def test_a_sure_wish_to_stop_or_for_a_person_counts(
    rate_clauses: Callable[..., None], kind: MoveKind, state: str, answer: str
) -> None:
    caller = make_caller(DENTIST, PERSON)
    say(caller, "book an appointment", "Ann Bell")

    rate_clauses(kind, 0.6)
    assert say(caller, "that is too much for me now") == (state, answer)
