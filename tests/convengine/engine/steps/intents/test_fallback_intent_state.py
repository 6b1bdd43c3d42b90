from typing import Any

from convengine.engine.steps.intents.fallback_intent_state import FallbackIntentStateStep
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_turn, payload, stages


def run(intent: str | None, state: str | None, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn()
    session = Session(CONVERSATION, intent=intent, state=state, **fields)
    return FallbackIntentStateStep().execute(session, turn).session, turn


def test_FB_V1_both_are_filled_and_told() -> None:
    session, turn = run(None, None)

    assert (session.intent, session.state) == ("UNKNOWN", "UNKNOWN")
    assert payload(turn, "INTENT_MISSING")["intent"] is None
    assert payload(turn, "STATE_MISSING")["fallbackState"] == "UNKNOWN"


def test_FB_V2_only_what_is_missing_is_filled() -> None:
    session, turn = run("ORDER", None)

    assert (session.intent, session.state) == ("ORDER", "UNKNOWN")
    assert stages(turn) == ["STATE_MISSING"]


def test_FB_V3_blank_is_missing() -> None:
    _, turn = run("", " ")

    assert stages(turn)[:2] == ["INTENT_MISSING", "STATE_MISSING"]


def test_FB_V4_nothing_is_missing() -> None:
    assert stages(run("ORDER", "CONFIRM")[1]) == []


def test_FB_V5_nothing_understood_is_told() -> None:
    _, turn = run("UNKNOWN", "UNKNOWN", user_text="asdf")

    assert stages(turn) == ["INTENT_UNRESOLVED"]
    assert payload(turn, "INTENT_UNRESOLVED")["userText"] == "asdf"


def test_FB_V6_a_reset_is_not_a_failure_to_understand() -> None:
    assert stages(run("UNKNOWN", "UNKNOWN", reset_only=True)[1]) == []
