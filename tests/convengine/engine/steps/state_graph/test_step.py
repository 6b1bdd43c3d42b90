from typing import Any

import pytest

from convengine.engine.steps.state_graph.step import StateGraphStep
from convengine.engine.turn import rows
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_config,
    make_edge,
    make_intent,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    run_step,
    stages,
)

LOAN = make_intent("LOAN")
CONFIRM = make_edge("IDLE", "CONFIRM")


def run(*all_rows: rows.Row, moves: tuple[str, ...] = (), start: str = "IDLE", **fields: Any) -> tuple[Session, Turn]:
    """Rules have moved LOAN from `start` through `moves`."""
    turn = make_turn(make_snapshot(LOAN, *all_rows))
    session = make_session(
        **{"intent": "LOAN", "state": start, "turn_start_intent": "LOAN", "turn_start_state": start, **fields}
    )
    for state in moves:
        session = session.move_to(state=state, cause="RULE")
    return run_step(StateGraphStep(), session, turn), turn


def verdict(*all_rows: rows.Row, **world: Any) -> bool | None:
    """What the flag says: true, false, or null when it was not set."""
    valid: bool | None = run(*all_rows, **world)[0].input_params.get("state_graph_valid")
    return valid


def test_P2_8_3_V1_a_state_that_stays_is_nothing_to_tell() -> None:
    session, turn = run(CONFIRM)

    assert stages(turn) == []
    assert session.input_params == {}


def test_P2_8_3_V2_an_intent_without_a_graph_may_move_as_it_likes() -> None:
    session, turn = run(moves=("DONE",))

    assert session.input_params["state_graph_valid"] is True
    event = payload(turn, "STATE_GRAPH_VALID")
    assert (event["fromState"], event["toState"], event["allowed"], event["validateOnly"]) == (
        "IDLE",
        "DONE",
        True,
        True,
    )


def test_P2_8_3_V3_a_move_with_an_edge_is_valid() -> None:
    assert verdict(CONFIRM, moves=("CONFIRM",)) is True


def test_P2_8_3_V4_a_move_without_an_edge_is_reported_and_stands() -> None:
    session, turn = run(CONFIRM, moves=("CANCELLED",))

    assert session.input_params == {"state_graph_valid": False, "state_graph_reason": "NO_EDGE:IDLE->CANCELLED"}
    assert session.state == "CANCELLED"
    event = payload(turn, "STATE_GRAPH_VIOLATION")
    assert (event["allowed"], event["softBlock"], event["validateOnly"]) == (False, False, True)
    assert "STATE_GRAPH_VALID" not in stages(turn)


def test_P2_8_3_V5_a_path_of_two_edges_is_valid() -> None:
    session, turn = run(make_edge("IDLE", "A"), make_edge("A", "B"), moves=("A", "B"))

    assert session.input_params["state_graph_valid"] is True
    assert [(hop["from"], hop["to"]) for hop in payload(turn, "STATE_GRAPH_VALID")["path"]] == [
        ("IDLE", "A"),
        ("A", "B"),
    ]


def test_P2_8_3_V6_the_first_bad_hop_is_the_reason() -> None:
    session, _ = run(make_edge("IDLE", "B"), moves=("A", "B"))

    assert session.input_params["state_graph_reason"] == "NO_EDGE:IDLE->A"


def test_P2_8_3_V7_an_edge_from_anywhere_leads_from_everywhere() -> None:
    assert verdict(make_edge("ANY", "ERROR"), moves=("ERROR",), start="X") is True


def test_P2_8_3_V8_a_soft_block_keeps_the_state_and_sets_the_flag() -> None:
    soft = make_config("StateGraphStep/ON_VIOLATION", "SOFT_BLOCK")

    session, turn = run(CONFIRM, soft, moves=("CANCELLED",))

    assert (session.state, session.input_params["state_graph_soft_block"]) == ("CANCELLED", True)
    assert payload(turn, "STATE_GRAPH_VIOLATION")["softBlock"] is True


def test_P2_8_3_V9_a_revert_takes_intent_and_state_back() -> None:
    revert = make_config("StateGraphStep/ON_VIOLATION", "REVERT")

    session, turn = run(CONFIRM, revert, moves=("CANCELLED",))

    assert (session.intent, session.state) == ("LOAN", "IDLE")
    assert session.transitions[-1].cause == "STATE_GRAPH"
    assert payload(turn, "STATE_GRAPH_VIOLATION")["validateOnly"] is False
    assert payload(turn, "STATE_GRAPH_REVERTED")["toState"] == "IDLE"


def test_P2_8_3_V10_codes_compare_without_case() -> None:
    assert verdict(CONFIRM, moves=("Confirm",), start="idle") is True


@pytest.mark.parametrize(
    ("rows_", "fields"),
    [((make_config("StateGraphStep/ENABLED", "false"),), {}), ((), {"reset_only": True})],
    ids=["switched off", "only reset"],
)
def test_nothing_is_checked_when_switched_off_or_only_reset(
    rows_: tuple[rows.Row, ...], fields: dict[str, Any]
) -> None:
    assert stages(run(CONFIRM, *rows_, moves=("CANCELLED",), **fields)[1]) == []


def test_the_first_move_out_of_unknown_needs_an_edge_like_any_other() -> None:
    assert verdict(CONFIRM, moves=("CONFIRM",), start="UNKNOWN") is False
    assert verdict(CONFIRM, make_edge("UNKNOWN", "ANY"), moves=("CONFIRM",), start="UNKNOWN") is True
