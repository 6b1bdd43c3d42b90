from typing import Any

import pytest

from convengine.engine.memory.recall import build_branch, recall_memory
from convengine.engine.turn.ports import MemoryAnswer, StoreFault
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.ports import FixedMemory

OWN = {"memory": {"session_summary": "own"}}


def run(
    answer: MemoryAnswer | None = None, earlier: str | None = None, *rows: Any, **fields: Any
) -> tuple[Session, Turn]:
    memory = FixedMemory(answer or MemoryAnswer())
    turn = make_turn(make_snapshot(*rows), memory=memory, loaded={"memory_recall": earlier})
    return recall_memory(make_session(**fields), turn), turn


@pytest.mark.parametrize(
    ("store", "context", "earlier", "recalled"),
    [
        ("store", OWN, "earlier", "store"),
        (None, OWN, "earlier", "own"),
        (None, {}, "earlier", "earlier"),
        (None, {"memory": "text"}, None, None),
        (None, {}, None, None),
    ],
)
def test_what_is_remembered_is_looked_for_from_the_nearest_place_on(
    store: str | None, context: Any, earlier: str | None, recalled: str | None
) -> None:
    session, _ = run(MemoryAnswer(store), earlier, context=context)

    assert session.input_params.get("memory_recall") == recalled


@pytest.mark.parametrize(
    ("store", "context", "earlier", "branch"),
    [
        (None, {}, "earlier", {"recalled_summary": "earlier"}),
        ("store", OWN, None, {"session_summary": "own", "recalled_summary": "store"}),
        (None, OWN, None, {"session_summary": "own"}),
    ],
)
def test_what_comes_from_elsewhere_is_in_the_context_from_the_start(
    store: str | None, context: Any, earlier: str | None, branch: Any
) -> None:
    session, _ = run(MemoryAnswer(store), earlier, context=context)

    assert session.context["memory"] == branch


def test_P2_10_2_V6_a_store_that_fails_is_told_and_the_next_one_heard() -> None:
    session, turn = run(MemoryAnswer("x", ("second",), (StoreFault("first", "OSError", "down"),)))

    assert session.input_params["memory_recall"] == "x"
    assert stages(turn) == ["MEMORY_STORE_ERROR"]
    assert payload(turn, "MEMORY_STORE_ERROR") == {
        "store": "first", "operation": "read", "errorType": "OSError", "errorMessage": "down",
    }  # fmt: skip


def test_switched_off_nothing_is_remembered() -> None:
    session, _ = run(MemoryAnswer("x"), "earlier", make_config("MemoryStep/ENABLED", "false"), context=OWN)

    assert session.input_params == {}


def branch(recall: str | None, **fields: Any) -> Any:
    params = {"memory_recall": recall} if recall else {}
    return build_branch(make_session(input_params=params, **fields), "new")


def test_the_own_summary_is_no_recalled_one() -> None:
    assert branch("own", context=OWN) == {"session_summary": "new"}
    assert branch(None) == {"session_summary": "new"}


def test_what_came_from_elsewhere_stays_for_the_session() -> None:
    first = branch("elsewhere")

    assert first == {"session_summary": "new", "recalled_summary": "elsewhere"}
    assert branch("new", context={"memory": first})["recalled_summary"] == "elsewhere"
