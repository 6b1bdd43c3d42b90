from typing import Any

import pytest

from convengine.engine.memory.session_facts import build_context_summary, find_entities
from convengine.engine.turn import rows
from convengine.engine.turn.session import Clarification
from tests.builders import make_intent, make_schema, make_session, make_snapshot

LOAN = make_intent("LOAN", display_name="Loans")
FIELDS = make_schema("LOAN", {"amount": {}, "city": {}, "tags": {}}, state_code="COLLECT")


def summary(*all_rows: rows.Row, turns: int = 1, **fields: Any) -> dict[str, str]:
    """The lines by name, for LOAN/CONFIRM with the text "I need money"."""
    session = make_session(
        **{"intent": "LOAN", "state": "CONFIRM", "turn_start_intent": "LOAN", "user_text": "I need money", **fields}
    )
    text = build_context_summary(session, make_snapshot(LOAN, FIELDS, *all_rows), turns)
    return dict(line.split(": ", 1) for line in text.split("\n"))


def test_the_goal_is_the_intent_and_what_the_user_first_said_of_it() -> None:
    assert summary(turn_start_intent="UNKNOWN")["GOAL"] == "Loans: I need money"
    assert summary(user_text="5000", context_summary="GOAL: Loans: I need money")["GOAL"] == "Loans: I need money"


def test_another_intent_has_a_goal_of_its_own() -> None:
    before = "GOAL: Opening hours: when are you open?"

    assert summary(turn_start_intent="HOURS", context_summary=before)["GOAL"] == "Loans: I need money"


def test_without_an_intent_the_goal_is_what_was_said_last() -> None:
    assert summary(intent="UNKNOWN", context_summary="GOAL: hello")["GOAL"] == "I need money"


def test_a_turn_without_words_leaves_the_goal_to_the_next() -> None:
    assert summary(user_text=None)["GOAL"] == "Loans"
    assert summary(context_summary="GOAL: Loans")["GOAL"] == "Loans: I need money"


def test_an_intent_without_a_row_is_called_by_its_code() -> None:
    assert summary(intent="GONE", turn_start_intent="GONE")["GOAL"] == "GONE: I need money"


def test_collected_fields_are_named_whichever_schema_applies_now() -> None:
    context = {"amount": 5000, "city": " ", "tags": ["a", "b"], "other": "no field", "mcp": {}}

    assert summary(context=context)["ENTITIES"] == "amount=5000, tags=a b"


def test_names_of_this_turn_come_before_those_of_earlier_ones() -> None:
    found = summary(user_text="mail a@b.example", context_summary="ENTITIES: old.pdf, amount=3", context={"amount": 5})

    assert found["ENTITIES"] == "amount=5, a@b.example, old.pdf"


@pytest.mark.parametrize("result", ["EXECUTED", "REJECTED"])
def test_an_action_that_ended_is_a_decision_and_stays_one(result: str) -> None:
    found = summary(
        input_params={"pending_action_result": result},
        context={"pending_action_runtime": {"action_key": "PAY", "status": result}},
        context_summary="DECISIONS: confirmed amount=5",
    )

    assert found["DECISIONS"] == f"{result.lower()} PAY, confirmed amount=5"


def test_what_the_user_confirmed_is_a_decision() -> None:
    found = summary(input_params={"routing_decision": "PROCEED_CONFIRMED"}, context={"amount": 5, "city": "Rome"})

    assert found["DECISIONS"] == "confirmed amount=5, confirmed city=Rome"


def test_an_action_is_called_by_its_key_else_by_what_it_is() -> None:
    params = {"pending_action_result": "EXECUTED"}

    assert summary(input_params=params | {"pending_action_key": "PAY"})["DECISIONS"] == "executed PAY"
    assert summary(input_params=params)["DECISIONS"] == "executed action"


def test_what_is_open_is_pending() -> None:
    found = summary(
        clarification=Clarification("Which city, please?", "AGENT"),
        context={"pending_action_runtime": {"action_key": "PAY", "status": "OPEN"}},
        missing_required_fields=("amount", "city"),
    )

    assert found["PENDING"] == "Which city; please?, waiting for a yes to PAY, missing amount and city"


def test_the_turns_are_counted() -> None:
    assert summary(turns=12)["TURNS"] == "12"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://shop.example/a?b=1, please", ["https://shop.example/a?b=1"]),
        ("(http://x.example/y).", ["http://x.example/y"]),
        ("write to Ana.B+c@mail.example.com.", ["Ana.B+c@mail.example.com"]),
        ("the file Report_2026.final.PDF and notes.txt!", ["Report_2026.final.PDF", "notes.txt"]),
        ('"Blue Harbour" or “Green Hill”', ["Blue Harbour", "Green Hill"]),
        ("„Zur Post“, «Chez Léa», 「東京駅」", ["Zur Post", "Chez Léa", "東京駅"]),
        ('قابلني في "مقهى النور" غدا', ["مقهى النور"]),
        ("version 1.2 of e.g. this, don't worry", []),
        ("", []),
    ],
)
def test_names_are_found_as_they_stand(text: str, found: list[str]) -> None:
    assert list(find_entities(text)) == found


def test_a_long_text_of_almost_names_takes_no_time() -> None:
    for piece in ("a.", "a@", '"', "https://", "x-", "_."):
        assert list(find_entities(piece * 2000)) is not None
