from typing import Any

import pytest

from convengine.engine.steps.conversation.reset_conversation import ResetConversationStep
from convengine.engine.turn.session import Clarification, Exchange, Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_snapshot, make_turn, payload, stages


def run(text: str | None = None, *, turn: Turn | None = None, **fields: Any) -> tuple[Session, Turn]:
    turn = turn or make_turn(text=text)
    params = fields.pop("params", {})
    values = {"intent": "ORDER", "state": "CONFIRM", "context": {"qty": 3}, **fields}
    session = Session(CONVERSATION, user_text=text, user_input_params=params, input_params=params, **values)
    return ResetConversationStep().execute(session, turn).session, turn


def test_RST_V1_the_bare_command_resets() -> None:
    session, turn = run("  ReSeT ")

    assert (session.intent, session.state, session.context) == ("UNKNOWN", "UNKNOWN", {})
    told = payload(turn, "CONVERSATION_RESET")
    assert (told["reason"], told["intent"], told["previousIntent"]) == ("USER_TEXT_COMMAND", "UNKNOWN", "ORDER")
    assert told["previousContext"] == {"qty": 3}
    assert session.reset_only


def test_RST_V2_a_text_about_resetting_is_no_reset() -> None:
    session, turn = run("reset my password")

    assert session.intent == "ORDER"
    assert stages(turn) == []


def test_RST_V3_a_param_with_a_text_resets_and_the_text_is_left_to_interpret() -> None:
    session, turn = run("book a flight", params={"reset": True})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:reset"
    assert not session.reset_only


def test_RST_V4_restart_counts_as_well() -> None:
    _, turn = run("hello", params={"restart": "YES"})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:restart"


def test_RST_V5_a_value_that_says_nothing_does_not_reset() -> None:
    _, turn = run("hello", params={"reset": "maybe"})

    assert stages(turn) == []


def test_RST_V6_other_params_of_the_request_stay() -> None:
    session, _ = run("hello", params={"reset": True, "tier": "gold"})

    assert session.input_params["tier"] == "gold"
    assert "reset" not in session.input_params


def test_RST_V7_reset_comes_before_restart() -> None:
    _, turn = run("hello", params={"restart": True, "reset": True})

    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:reset"


def test_RST_V8_a_reset_opens_an_epoch_and_forgets_the_history() -> None:
    session, _ = run("/reset", history=(Exchange("a", "b"),), epoch=4)

    assert (session.epoch, session.history) == (5, ())


@pytest.mark.parametrize(("value", "resets"), [(1, True), (2, False)])
def test_RST_V10_a_number_counts_when_it_is_one(value: int, resets: bool) -> None:
    _, turn = run("hello", params={"reset": value})

    assert bool(stages(turn)) is resets


def test_a_param_reset_without_a_text_leaves_nothing_to_interpret() -> None:
    session, _ = run("  ", params={"reset": True})

    assert session.reset_only


def test_a_param_reset_with_a_bare_command_leaves_nothing_to_interpret() -> None:
    session, turn = run("restart", params={"conversation_reset": "on"})

    assert session.reset_only
    assert payload(turn, "CONVERSATION_RESET")["reason"] == "INPUT_PARAM:conversation_reset"


def test_a_stored_param_of_an_earlier_turn_does_not_reset() -> None:
    turn = make_turn()
    session = Session(CONVERSATION, user_text="hi", input_params={"reset": True})

    ResetConversationStep().execute(session, turn)

    assert stages(turn) == []


@pytest.mark.parametrize(("allowed", "resets"), [("true", True), ("false", False)])
def test_a_full_stop_counts_only_where_it_is_allowed(allowed: str, resets: bool) -> None:
    snapshot = make_snapshot(make_config("ResetConversationStep/RESET_ALLOW_PUNCTUATION", allowed))

    _, turn = run("Reset.", turn=make_turn(snapshot, text="Reset."))

    assert bool(stages(turn)) is resets


def test_a_reset_releases_lock_question_and_block() -> None:
    session, _ = run(
        "reset",
        intent_locked=True,
        intent_lock_reason="SCHEMA_INCOMPLETE",
        clarification=Clarification("Which?", "AGENT"),
        status="BLOCKED",
    )

    assert (session.intent_locked, session.clarification, session.status) == (False, None, "RUNNING")


def test_the_command_list_is_a_live_setting() -> None:
    snapshot = make_snapshot(make_config("ResetConversationStep/TEXT_COMMANDS", "bye bye, adieu"))

    _, turn = run("Adieu", turn=make_turn(snapshot, text="Adieu"))

    assert stages(turn) == ["CONVERSATION_RESET"]
