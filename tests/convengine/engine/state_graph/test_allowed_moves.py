from typing import Any

import pytest

from convengine.engine.state_graph.allowed_moves import GraphVerdict, apply_override, judge_moves
from convengine.engine.turn import rows
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

LOAN = make_intent("LOAN")
START: dict[str, Any] = {"intent": "LOAN", "state": "IDLE", "turn_start_intent": "LOAN", "turn_start_state": "IDLE"}


def start_session(**fields: Any) -> Session:
    return make_session(**{**START, **fields})


def check(session: Session, *edges: rows.Row) -> GraphVerdict:
    return judge_moves(session, make_snapshot(LOAN, *edges))


def hops(verdict: GraphVerdict) -> list[tuple[str, str, bool]]:
    return [(hop.from_state, hop.to_state, hop.checked) for hop in verdict.path]


def test_hops_are_judged_one_by_one() -> None:
    moved = start_session().move_to(state="A", cause="RULE").move_to(state="B", cause="RULE")

    verdict = check(moved, make_edge("IDLE", "B"))

    assert hops(verdict) == [("IDLE", "A", True), ("A", "B", True)]
    assert verdict.first_violation is not None
    assert (verdict.first_violation.from_state, verdict.first_violation.to_state) == ("IDLE", "A")


def test_a_change_that_nobody_recorded_is_a_hop_of_its_own() -> None:
    moved = start_session().move_to(state="A", cause="RULE").evolve(state="B")

    assert hops(check(moved)) == [("IDLE", "A", True), ("A", "B", True)]
    assert hops(check(start_session().evolve(state="C").move_to(state="D", cause="RULE"))) == [
        ("IDLE", "C", True),
        ("C", "D", True),
    ]


def test_a_change_of_intent_is_recorded_and_not_checked() -> None:
    moved = start_session().move_to(intent="FAQ", state="HOURS", cause="RULE")

    verdict = check(moved, make_edge("IDLE", "B"))

    assert hops(verdict) == [("IDLE", "HOURS", False)]
    assert (verdict.checked, verdict.first_violation) == (False, None)


def test_a_move_by_intent_resolution_is_recorded_and_not_checked() -> None:
    assert not check(start_session().move_to(state="B", cause="INTENT_RESOLUTION"), make_edge("IDLE", "A")).checked


def test_moves_before_a_reset_are_gone_with_it() -> None:
    before = start_session().move_to(state="A", cause="RULE").move_to(intent="UNKNOWN", state="UNKNOWN", cause="RESET")
    after = before.evolve(turn_start_intent="UNKNOWN", turn_start_state="UNKNOWN")

    assert check(after, make_edge("IDLE", "B")).path == ()


def test_the_edges_of_another_intent_do_not_bind() -> None:
    verdict = check(start_session().move_to(state="B", cause="RULE"), make_edge("IDLE", "A", intent_code="FAQ"))

    assert verdict.first_violation is None


def test_an_edge_that_is_switched_off_does_not_bind() -> None:
    assert (
        check(start_session().move_to(state="B", cause="RULE"), make_edge("IDLE", "A", enabled=False)).first_violation
        is None
    )


def test_the_edges_of_everywhere_hold_beside_those_of_the_intent() -> None:
    edges = (make_edge("IDLE", "A", intent_code="LOAN"), make_edge("ANY", "ERROR", intent_code="ANY"))

    assert check(start_session().move_to(state="ERROR", cause="RULE"), *edges).first_violation is None
    assert check(start_session().move_to(state="B", cause="RULE"), *edges).first_violation is not None


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
