from typing import Any

import pytest

from convengine.engine.steps.intents.reset_resolved_intent import ResetResolvedIntentStep
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_snapshot, make_turn, payload, stages

CODES = "ResetResolvedIntentStep/RESET_INTENT_CODES"


def run(intent: str | None, codes: str | None = None, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*([make_config(CODES, codes)] if codes is not None else [])))
    values = {"intent_source": "CLASSIFIER", "state": "IDLE", **fields}
    session = Session(CONVERSATION, intent=intent, **values)
    return ResetResolvedIntentStep().execute(session, turn).session, turn


def test_RRI_V1_the_conventional_intent_resets() -> None:
    _, turn = run("RESET_SESSION")

    told = payload(turn, "CONVERSATION_RESET")
    assert (told["reason"], told["matchedIntent"]) == ("INTENT_RESOLVED_RESET", "RESET_SESSION")


def test_RRI_V2_the_list_is_a_setting_in_any_case() -> None:
    assert stages(run("START_OVER", "RESET_SESSION, start_over")[1]) == ["CONVERSATION_RESET"]


def test_RRI_V3_a_blank_list_means_the_default() -> None:
    assert stages(run("RESET_SESSION", " , ")[1]) == ["CONVERSATION_RESET"]


@pytest.mark.parametrize("intent", [pytest.param("ORDER", id="RRI_V4"), pytest.param(None, id="RRI_V5")])
def test_RRI_V4_V5_another_intent_does_nothing(intent: str | None) -> None:
    session, turn = run(intent)

    assert session.intent == intent
    assert stages(turn) == []


def test_RRI_V6_the_conversation_is_as_new_but_for_the_facts_of_the_request() -> None:
    session, _ = run(
        "RESET_SESSION",
        context={"qty": 3},
        intent_locked=True,
        input_params={"old": 1, "tier": "gold"},
        user_input_params={"tier": "gold"},
    )

    assert (session.intent, session.state, session.context, session.intent_locked) == ("UNKNOWN", "UNKNOWN", {}, False)
    assert "old" not in session.input_params
    assert session.input_params["tier"] == "gold"
    assert session.reset_only


def test_a_restored_reset_intent_does_not_wipe_every_turn() -> None:
    assert stages(run("RESET_SESSION", intent_source=None)[1]) == []
