from typing import Any

import pytest

from convengine.engine.steps.actions.disambiguation import DisambiguationStep
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    CONVERSATION,
    make_action,
    make_config,
    make_intent,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

FLIGHT = make_action("cancel_flight", priority=10, description="Flight out")
HOTEL = make_action("cancel_hotel", priority=10, description="Hotel stay")
EXECUTE, REJECT, RECLASSIFY = "EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "RECLASSIFY_INTENT"


def run(*rows: Row, decision: str = EXECUTE, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("TRAVEL"), *rows))
    skips = {"skip_intent_resolution": decision != RECLASSIFY}
    params = {"policy_decision": decision, **skips, **fields.pop("params", {})}
    values = {"intent": "TRAVEL", "state": "CONFIRM", **fields}
    session = Session(CONVERSATION, 6, input_params=params, **values)
    return DisambiguationStep().execute(session, turn).session, turn


def setting(name: str, value: str) -> Row:
    return make_config(f"DisambiguationStep/{name}", value)


def test_DIS_V1_two_actions_of_one_priority_are_asked_about() -> None:
    session, turn = run(FLIGHT, HOTEL)

    question = (
        "More than one action fits here. Which one do you mean: cancel_flight (Flight out), cancel_hotel (Hotel stay)?"
    )
    assert payload(turn, "DISAMBIGUATION_REQUIRED") == {
        "reason": "MULTIPLE_PENDING_ACTIONS",
        "question": question,
        "candidateCount": 2,
        "options": ["cancel_flight (Flight out)", "cancel_hotel (Hotel stay)"],
        "intent": "TRAVEL",
        "state": "CONFIRM",
        "questionSource": "TEMPLATE",
    }
    asked = session.clarification
    assert asked is not None
    assert (asked.reason, asked.question, asked.asks) == ("PENDING_ACTION_DISAMBIGUATION", question, 1)
    assert asked.options[1] == {"actionKey": "cancel_hotel", "label": "cancel_hotel (Hotel stay)"}
    params = session.input_params
    assert (params["policy_decision"], params["skip_intent_resolution"]) == (RECLASSIFY, True)
    assert params["pending_action_disambiguation_required"] is True
    assert session.reply_override == ReplyOverride(question, "DISAMBIGUATION")
    assert stages(turn) == ["DECISION", "DISAMBIGUATION_REQUIRED"]


def options(turn: Turn) -> Any:
    return payload(turn, "DISAMBIGUATION_REQUIRED")["options"]


def test_DIS_V2_different_priorities_need_no_question() -> None:
    session, turn = run(FLIGHT, make_action("cancel_hotel", priority=20))

    assert (session.clarification, stages(turn)) == (None, [])


def test_DIS_V3_only_the_best_priority_is_offered() -> None:
    _, turn = run(FLIGHT, HOTEL, make_action("cancel_all", priority=20))

    assert len(options(turn)) == 2


@pytest.mark.parametrize(
    "fields",
    [{"params": {"pending_action_key": "cancel_hotel"}}, {"context": {"pending_action_key": "cancel_hotel"}}],
)
def test_DIS_V4_a_key_needs_no_question(fields: Any) -> None:
    _, turn = run(FLIGHT, HOTEL, **fields)

    assert stages(turn) == []


def test_DIS_V5_of_many_a_few_are_offered_and_the_rest_can_be_named() -> None:
    session, turn = run(*(make_action(f"A{number}") for number in range(7)))

    told = payload(turn, "DISAMBIGUATION_REQUIRED")
    assert (len(told["options"]), told["candidateCount"], told["truncated"]) == (5, 7, True)
    assert session.clarification is not None
    assert [one.get("offered", True) for one in session.clarification.options] == [True] * 5 + [False] * 2


@pytest.mark.parametrize("decision", [REJECT, RECLASSIFY])
def test_DIS_V8_only_a_yes_is_asked_about(decision: str) -> None:
    session, turn = run(FLIGHT, HOTEL, decision=decision)

    assert (session.clarification, stages(turn)) == (None, [])


def test_rows_of_one_name_are_one_action() -> None:
    _, turn = run(make_action("PAY"), make_action("pay", method_names="other"))

    assert stages(turn) == []


def test_a_row_without_a_name_is_not_offered() -> None:
    _, turn = run(FLIGHT, HOTEL, make_action("", priority=10))

    assert len(options(turn)) == 2


def test_what_is_done_with_is_not_offered_again() -> None:
    done = {"status": "EXECUTED", "action_key": "cancel_flight", "action_ref": "billing:refund"}
    _, turn = run(FLIGHT, HOTEL, context={"pending_action_runtime": {**done, "scope": "TRAVEL|CONFIRM"}})

    assert options(turn) == ["cancel_hotel (Hotel stay)"]


def test_switched_off_nothing_is_asked() -> None:
    _, turn = run(FLIGHT, HOTEL, setting("ENABLED", "false"))

    assert stages(turn) == []


def test_the_question_is_the_analysts() -> None:
    text = "{{ candidate_count }} in {{ intent }}/{{ state }}: {{ action_keys }}?"
    session, _ = run(FLIGHT, HOTEL, setting("QUESTION_TEMPLATE", text))

    assert session.reply_override is not None
    assert session.reply_override.text == "2 in TRAVEL/CONFIRM: cancel_flight, cancel_hotel?"


@pytest.mark.parametrize("text", ["{{ options | nonsense }}", "{% if false %}x{% endif %}"])
def test_a_question_that_cannot_be_put_gives_way_to_the_built_in_one(text: str) -> None:
    session, _ = run(FLIGHT, HOTEL, setting("QUESTION_TEMPLATE", text))

    assert session.reply_override is not None
    assert session.reply_override.text.startswith("More than one action fits here.")


def earlier(*keys: str, asks: int = 1) -> Clarification:
    stored = tuple({"actionKey": key, "label": key} for key in keys or ("cancel_flight", "cancel_hotel"))
    return Clarification("Which one?", "PENDING_ACTION_DISAMBIGUATION", stored, from_previous_turn=True, asks=asks)


def test_a_reply_that_meant_nothing_is_asked_again() -> None:
    session, turn = run(FLIGHT, HOTEL, decision=RECLASSIFY, clarification=earlier())

    assert session.clarification is not None
    assert (session.clarification.asks, session.clarification.from_previous_turn) == (2, False)
    assert session.input_params["skip_intent_resolution"] is False
    assert "DISAMBIGUATION_REQUIRED" in stages(turn)


def test_a_message_that_found_its_meaning_elsewhere_is_not() -> None:
    question = earlier()
    session, turn = run(
        FLIGHT, HOTEL, decision=RECLASSIFY, clarification=question, params={"skip_intent_resolution": True}
    )

    assert (session.clarification, stages(turn)) == (question, [])


@pytest.mark.parametrize("decision", [EXECUTE, RECLASSIFY])
def test_after_some_asking_the_question_is_dropped(decision: str) -> None:
    session, turn = run(FLIGHT, HOTEL, decision=decision, clarification=earlier(asks=2))

    assert (session.clarification, session.reply_override, stages(turn)) == (None, None, [])
    assert session.input_params["policy_decision"] == decision


def test_how_often_it_is_asked_is_a_setting() -> None:
    session, _ = run(FLIGHT, HOTEL, setting("MAX_ASKS", "3"), clarification=earlier(asks=2))

    assert session.clarification is not None
    assert session.clarification.asks == 3


@pytest.mark.parametrize(
    "rows", [(FLIGHT,), (), (FLIGHT, HOTEL, setting("ENABLED", "false")), (FLIGHT, make_action("other", priority=10))]
)
def test_a_question_that_is_settled_or_another_by_now_is_dropped(rows: tuple[Row, ...]) -> None:
    session, turn = run(*rows, decision=RECLASSIFY, clarification=earlier())

    assert (session.clarification, stages(turn)) == (None, [])


def test_a_yes_where_the_choice_is_another_by_now_asks_anew() -> None:
    session, _ = run(FLIGHT, make_action("other", priority=10), clarification=earlier(asks=2))

    assert session.clarification is not None
    assert session.clarification.asks == 1


def test_a_confirmed_action_is_open_again_while_the_question_stands() -> None:
    runtime = {"status": "IN_PROGRESS", "action_key": "x", "action_ref": "a:b", "scope": "TRAVEL|CONFIRM"}
    session, turn = run(FLIGHT, HOTEL, context={"pending_action_runtime": runtime})

    assert session.context["pending_action_runtime"]["status"] == "OPEN"
    assert payload(turn, "PENDING_ACTION_LIFECYCLE")["event"] == "REVERTED"


def test_a_question_of_another_kind_is_left_alone() -> None:
    question = Clarification("Which city?", "AGENT", from_previous_turn=True)

    assert run(FLIGHT, decision=RECLASSIFY, clarification=question)[0].clarification is question
