from typing import Any

import pytest

from convengine.engine.state_graph.override import apply_override
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Session
from tests.builders import (
    make_config,
    make_edge,
    make_intent,
    make_response,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

ALLOWED = make_config("ResponseResolutionStep/ALLOW_LLM_STATE_OVERRIDE", "true")
ROWS = (make_intent("LOAN"), make_intent("FEES"), make_intent("OLD", enabled=False), make_response(state_code="DONE"))


def after(document: Any, *rows: Row) -> tuple[Session, Any]:
    turn = make_turn(make_snapshot(*ROWS, *rows))
    return apply_override(make_session(intent="LOAN", state="CONFIRM"), turn, document), turn


def test_by_default_a_model_moves_nothing() -> None:
    session, turn = after({"intent": "FEES", "state": "DONE"})

    assert (session.intent, session.state, stages(turn)) == ("LOAN", "CONFIRM", [])


def test_when_it_may_the_move_is_told_and_recorded() -> None:
    session, turn = after({"intent": "fees", "state": "Done"}, ALLOWED)

    assert (session.intent, session.state) == ("FEES", "DONE")
    assert session.transitions[-1].cause == "MODEL"
    assert payload(turn, "RESPONSE_STATE_OVERRIDE") == {
        "fromIntent": "LOAN", "fromState": "CONFIRM", "toIntent": "FEES", "toState": "DONE", "applied": True,
    }  # fmt: skip


@pytest.mark.parametrize("document", [{}, {"state": "CONFIRM"}, {"state": 5}, {"intent": " "}, [1], "DONE", None])
def test_nothing_new_is_no_move(document: Any) -> None:
    assert stages(after(document, ALLOWED)[1]) == []


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"intent": "NOPE"}, "UNKNOWN_INTENT"),
        ({"intent": "ANY"}, "UNKNOWN_INTENT"),
        ({"intent": "OLD"}, "UNKNOWN_INTENT"),
        ({"state": "NOWHERE"}, "UNKNOWN_STATE"),
        ({"state": "DONE"}, "NO_EDGE:CONFIRM->DONE"),
    ],
)
def test_where_it_may_not_go_the_reason_is_told(document: Any, reason: str) -> None:
    session, turn = after(document, ALLOWED, make_edge("CONFIRM", "REVIEW", intent_code="LOAN"))

    assert (session.intent, session.state) == ("LOAN", "CONFIRM")
    assert payload(turn, "RESPONSE_STATE_OVERRIDE")["reason"] == reason
    assert payload(turn, "RESPONSE_STATE_OVERRIDE")["applied"] is False


def test_the_graph_says_nothing_of_another_intent_nor_when_it_is_off() -> None:
    edge = make_edge("CONFIRM", "REVIEW", intent_code="LOAN")

    assert after({"intent": "FEES", "state": "DONE"}, ALLOWED, edge)[0].state == "DONE"
    off = make_config("StateGraphStep/ENABLED", "false")
    assert after({"state": "DONE"}, ALLOWED, edge, off)[0].state == "DONE"
