from typing import Any

import pytest

from convengine.engine.steps.interaction.step import InteractionPolicyStep
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Session
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

ROW = make_action("PAY", intent_code="ORDER", state_code="CONFIRM")
FLIGHT = make_action("cancel_flight", priority=10, description="Cancel the flight")
HOTEL = make_action("cancel_hotel", priority=10, description="Cancel the hotel booking")
ACTS = ("AFFIRM", "NEGATE", "ANSWER", "EDIT", "QUESTION", "RESET", "NEW_REQUEST", "GREETING")
EXECUTE, REJECT, FILL, RECLASSIFY = (
    "EXECUTE_PENDING_ACTION",
    "REJECT_PENDING_ACTION",
    "FILL_PENDING_SLOT",
    "RECLASSIFY_INTENT",
)


def run(act: str, *rows: Row, text: str = "", **fields: Any) -> tuple[Session, Turn]:
    params = fields.pop("params", {})
    turn = make_turn(make_snapshot(make_intent("ORDER"), *rows), text=text)
    values = {"intent": "ORDER", "state": "CONFIRM", "user_text": text, **fields}
    session = Session(CONVERSATION, **values).with_params({"dialogue_act": act, **params})
    session = InteractionPolicyStep().execute(session, turn).session
    event = payload(turn, "INTERACTION_POLICY_DECIDED")
    assert event["policyDecision"] == session.input_params["policy_decision"] == session.interaction_decision
    assert event["skipIntentResolution"] is session.input_params["skip_intent_resolution"]
    return session, turn


def decide(act: str, *rows: Row, **fields: Any) -> tuple[str, bool, str]:
    session, turn = run(act, *rows, **fields)
    by = payload(turn, "INTERACTION_POLICY_DECIDED")["decidedBy"]
    return session.input_params["policy_decision"], session.input_params["skip_intent_resolution"], by


def matrix(value: str) -> Row:
    return make_config("InteractionPolicyStep/MATRIX", value)


def test_IP_V1_a_yes_runs_what_is_pending() -> None:
    assert decide("AFFIRM", ROW) == (EXECUTE, True, "P2")


def test_IP_V2_nothing_is_decided_while_the_state_is_unknown() -> None:
    assert decide("AFFIRM", ROW, state="UNKNOWN") == (RECLASSIFY, False, "P1")


def test_the_question_of_a_collision_counts_as_no_state() -> None:
    assert decide("AFFIRM", make_action("PAY"), state="INTENT_COLLISION") == (RECLASSIFY, False, "P1")


def test_IP_V3_a_no_rejects_what_the_context_proposes() -> None:
    assert decide("NEGATE", context={"pending_action": {"action_key": "x"}}) == (REJECT, True, "P2")


def test_IP_V4_an_answer_fills_the_slot() -> None:
    assert decide("ANSWER", context={"pending_slot": "city"}) == (FILL, True, "P5")


def test_IP_V5_a_greeting_does_not() -> None:
    assert decide("GREETING", context={"pending_slot": "city"}) == (RECLASSIFY, False, "P6")


def test_IP_V6_nor_does_a_wish_to_start_over() -> None:
    assert decide("RESET", context={"pendingSlot": "city"})[0] == RECLASSIFY


def test_IP_V7_an_edit_fills_the_slot_beside_an_action() -> None:
    assert decide("EDIT", ROW, context={"pending_slot": "city"}) == (FILL, True, "P5")


def test_IP_V8_the_matrix_may_say_that_intents_are_looked_at() -> None:
    rows = (ROW, matrix('{"PENDING_ACTION:QUESTION": "RECLASSIFY_INTENT"}'))

    assert decide("QUESTION", *rows) == (RECLASSIFY, False, "P2")


def test_IP_V9_an_entry_that_is_no_decision_is_told_and_does_not_count() -> None:
    session, turn = run("AFFIRM", ROW, matrix('{"PENDING_ACTION:AFFIRM": "EXECUTEE"}'))

    assert session.input_params["policy_decision"] == EXECUTE
    assert payload(turn, "INTERACTION_POLICY_DECIDED")["decidedBy"] == "P3"
    assert payload(turn, "CONFIG_VALUE_INVALID")["value"] == {"PENDING_ACTION:AFFIRM": "EXECUTEE"}


@pytest.mark.parametrize("act", ["banana", "", None])
def test_IP_V10_an_act_that_is_none_counts_as_a_new_request(act: Any) -> None:
    _, turn = run(act, ROW)

    assert payload(turn, "INTERACTION_POLICY_DECIDED")["dialogueAct"] == "NEW_REQUEST"


def make_question(*options: tuple[str, str], earlier: bool = True, **more: Any) -> Clarification:
    stored = tuple({"actionKey": key, "label": label} for key, label in options)
    return Clarification("Which one?", "PENDING_ACTION_DISAMBIGUATION", stored, from_previous_turn=earlier, **more)


BOTH = make_question(
    ("cancel_flight", "cancel_flight (Cancel the flight)"), ("cancel_hotel", "cancel_hotel (Cancel the hotel booking)")
)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("the hotel one", id="IP_V11"),
        pytest.param("2", id="IP_V12"),
        pytest.param("Cancel hotel, please.", id="its key and a word of courtesy"),
    ],
)
def test_a_reply_to_the_question_runs_the_action_that_it_means(text: str) -> None:
    session, turn = run("ANSWER", FLIGHT, HOTEL, text=text, clarification=BOTH)

    assert session.input_params["pending_action_key"] == "cancel_hotel"
    assert (session.input_params["policy_decision"], session.clarification) == (EXECUTE, None)
    assert payload(turn, "DISAMBIGUATION_RESOLVED") == {"actionKey": "cancel_hotel", "reply": text}
    assert payload(turn, "INTERACTION_POLICY_DECIDED")["decidedBy"] == "P0"
    assert session.input_params["skip_intent_resolution"] is True


def test_a_reply_that_means_nothing_leaves_the_question_open() -> None:
    session, turn = run("ANSWER", FLIGHT, HOTEL, text="maybe", clarification=BOTH)

    assert session.clarification is BOTH
    assert session.input_params["policy_decision"] == RECLASSIFY
    assert "DISAMBIGUATION_RESOLVED" not in stages(turn)


def test_a_no_ends_the_question_and_rejects_nothing() -> None:
    session, _ = run("NEGATE", FLIGHT, HOTEL, text="no", clarification=BOTH)

    assert session.clarification is None
    assert (session.input_params["policy_decision"], session.interaction_decision) == (RECLASSIFY, RECLASSIFY)


def test_an_option_whose_row_is_gone_cannot_be_chosen() -> None:
    session, _ = run("ANSWER", FLIGHT, text="2", clarification=BOTH)

    assert "pending_action_key" not in session.input_params


def test_what_is_not_offered_can_be_named_but_has_no_number() -> None:
    hidden = {"actionKey": "cancel_hotel", "label": "cancel_hotel", "offered": False}
    question = Clarification(
        "Which?",
        "PENDING_ACTION_DISAMBIGUATION",
        ({"actionKey": "cancel_flight", "label": "cancel_flight"}, hidden),
        from_previous_turn=True,
    )

    by_number, _ = run("ANSWER", FLIGHT, HOTEL, text="2", clarification=question)
    by_name, _ = run("ANSWER", FLIGHT, HOTEL, text="hotel", clarification=question)

    assert "pending_action_key" not in by_number.input_params
    assert by_name.input_params["pending_action_key"] == "cancel_hotel"


def test_a_key_in_the_request_ends_the_question() -> None:
    key = {"pending_action_key": "cancel_hotel"}
    session, turn = run("AFFIRM", FLIGHT, HOTEL, text="yes", clarification=BOTH, params=key, user_input_params=key)

    assert session.clarification is None
    assert payload(turn, "INTERACTION_POLICY_DECIDED")["decidedBy"] == "P2"


def test_a_question_of_another_kind_is_left_alone() -> None:
    question = Clarification("Which city?", "AGENT", from_previous_turn=True)
    session, _ = run("NEGATE", text="no", clarification=question)

    assert session.clarification is question


RUNTIME = {"status": "EXECUTED", "action_key": "PAY", "action_ref": "billing:refund", "scope": "ORDER|CONFIRM"}


def test_IP_V13_what_was_executed_here_is_not_pending_any_more() -> None:
    session, turn = run("AFFIRM", ROW, context={"pending_action_runtime": RUNTIME})

    assert session.input_params["policy_decision"] == RECLASSIFY
    assert payload(turn, "INTERACTION_POLICY_DECIDED")["hasPendingAction"] is False


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"scope": "ORDER|PAY"}, id="in another state"),
        pytest.param({"status": "EXPIRED"}, id="not executed"),
        pytest.param({"status": "FAILED"}, id="tried in vain"),
        pytest.param({"action_key": "SHIP"}, id="another action"),
        pytest.param({"action_ref": "billing:capture"}, id="another task"),
    ],
)
def test_anything_else_is_still_pending(changed: dict[str, str]) -> None:
    assert decide("AFFIRM", ROW, context={"pending_action_runtime": {**RUNTIME, **changed}})[0] == EXECUTE


@pytest.mark.parametrize("key", ["pending_action", "pendingAction", "pending_action_key", "pending_action_task"])
def test_a_param_that_names_an_action_makes_one_pending(key: str) -> None:
    assert decide("AFFIRM", params={key: "x"})[0] == EXECUTE
    assert decide("AFFIRM", params={key: " "})[0] == RECLASSIFY


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        ("action", (EXECUTE, REJECT, RECLASSIFY, RECLASSIFY, RECLASSIFY, RECLASSIFY, RECLASSIFY, RECLASSIFY)),
        ("slot", (FILL, FILL, FILL, FILL, FILL, RECLASSIFY, RECLASSIFY, RECLASSIFY)),
        ("both", (EXECUTE, REJECT, FILL, FILL, FILL, RECLASSIFY, RECLASSIFY, RECLASSIFY)),
        ("none", (RECLASSIFY,) * 8),
    ],
)
def test_the_table_of_all_acts_holds(waiting: str, expected: tuple[str, ...]) -> None:
    rows = (ROW,) if waiting in ("action", "both") else ()
    context = {"pending_slot": "city"} if waiting in ("slot", "both") else {}

    assert tuple(decide(act, *rows, context=context)[0] for act in ACTS) == expected


def test_an_empty_entry_of_the_matrix_leaves_the_switches() -> None:
    rows = (ROW, matrix('{"PENDING_ACTION:AFFIRM": ""}'))

    assert decide("AFFIRM", *rows) == (EXECUTE, True, "P3")
    off = make_config("InteractionPolicyStep/EXECUTE_PENDING_ON_AFFIRM", "false")
    assert decide("AFFIRM", *rows, off) == (RECLASSIFY, False, "P6")


@pytest.mark.parametrize(
    ("act", "key", "switch", "context"),
    [
        ("NEGATE", "PENDING_ACTION:NEGATE", "REJECT_PENDING_ON_NEGATE", {"pendingAction": "a:b"}),
        ("ANSWER", "PENDING_SLOT:ANSWER", "FILL_PENDING_SLOT_ON_NON_NEW_REQUEST", {"pending_slot": "city"}),
    ],
)
def test_a_behaviour_goes_with_its_entry_and_its_switch(act: str, key: str, switch: str, context: Any) -> None:
    off = make_config(f"InteractionPolicyStep/{switch}", "false")

    assert decide(act, matrix(f'{{"{key}": ""}}'), off, context=context) == (RECLASSIFY, False, "P6")


def test_keys_of_the_matrix_are_read_in_any_case() -> None:
    assert decide("EDIT", ROW, matrix('{"pending_action: edit": "execute_pending_action"}'))[0] == EXECUTE


def test_decisions_can_be_had_without_a_resolved_state_where_that_is_wanted() -> None:
    off = make_config("InteractionPolicyStep/REQUIRE_RESOLVED_INTENT_AND_STATE", "false")

    assert decide("AFFIRM", off, state="UNKNOWN", params={"pending_action_key": "x"}) == (EXECUTE, True, "P2")


@pytest.mark.parametrize("text", ["Looks good.", "sounds good"])
def test_R120_praise_alone_runs_an_action_only_after_a_question(text: str) -> None:
    asked = {"type": "TEXT", "value": "Shall I pay the bill?"}
    statement = {"type": "TEXT", "value": "Your bill is 80 euros."}

    assert decide("AFFIRM", ROW, text=text, last_assistant=asked)[0] == EXECUTE
    assert decide("AFFIRM", ROW, text=text, last_assistant=statement) == (RECLASSIFY, False, "P6")
    assert decide("AFFIRM", ROW, text=text) == (RECLASSIFY, False, "P6")
    assert decide("AFFIRM", ROW, text=f"yes, {text}", last_assistant=statement)[0] == EXECUTE
