from typing import Any

import pytest

from convengine.engine.steps.containers.step import AddContainerDataStep, attach_container_data
from convengine.engine.turn import rows
from convengine.engine.turn.ports import ContainerAnswer
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_config, make_intent, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.ports import FixedContainers

INTENTS = (make_intent("FAQ"), make_intent("LOAN"))


def test_the_data_of_the_place_is_in_the_context_when_the_step_is_done() -> None:
    row = rows.ContainerConfig(
        id=1, intent_code="SHOP", state_code="ANY", page_id=1, section_id=2, container_id=3, input_param_name="hours"
    )
    turn = make_turn(make_snapshot(make_intent("SHOP"), row), containers=FixedContainers({(1, 2, 3): {"open": True}}))

    session = AddContainerDataStep().execute(make_session(intent="SHOP", state="IDLE"), turn).session

    assert session.context["container_data"] == {"hours": {"open": True}}


def container(intent: str, state: str, number: int = 1, name: str = "faq", **values: Any) -> rows.ContainerConfig:
    """A row of page 1, section 2, whose id is its container's number."""
    return rows.ContainerConfig(
        intent_code=intent, state_code=state, page_id=1, section_id=2, container_id=number, input_param_name=name,
        **{"id": number, **values},
    )  # fmt: skip


def run(*all_rows: rows.Row, values: dict[int, Any] | None = None, **session: Any) -> tuple[Session, Turn, list[Any]]:
    """Attach for LOAN/IDLE; containers answer with their number unless said otherwise."""
    by_number = {number: f"data {number}" for number in range(1, 10)} | (values or {})
    port = FixedContainers({(1, 2, number): value for number, value in by_number.items()})
    turn = make_turn(make_snapshot(*INTENTS, *all_rows), containers=port)
    before = make_session(**{"intent": "LOAN", "state": "IDLE", "user_text": "where is it", **session})
    return attach_container_data(before, turn), turn, port.requests


def list_asked_containers(requests: list[Any]) -> list[int]:
    return [request.container_id for request in requests]


def test_a_question_in_between_gets_the_data_of_its_own_intent() -> None:
    rows_of_both = (container("LOAN", "IDLE"), container("FAQ", "ANY", 2, "hours"))

    session, _, _ = run(*rows_of_both, digression=Digression("FAQ", "IDLE", 5))

    assert session.context["container_data"] == {"faq": "data 1", "hours": "data 2"}


def test_P2_1_3_V1_without_rows_nothing_is_fetched_and_that_is_told() -> None:
    session, turn, requests = run(context={"a": 1})

    assert payload(turn, "CONTAINER_DATA_SKIPPED") == {"reason": "NO_ROWS", "intent": "LOAN", "state": "IDLE"}
    assert session.context == {"a": 1}
    assert requests == []


def test_P2_1_3_V2_the_rows_of_the_place_are_used_alone() -> None:
    _, turn, requests = run(container("FAQ", "IDLE", 1), container("ANY", "ANY", 2), intent="FAQ")

    assert list_asked_containers(requests) == [1]
    assert payload(turn, "DECISION")["cut"] == {"OUTRANKED": 1}


def test_P2_1_3_V3_the_rows_of_the_state_come_before_those_of_everywhere() -> None:
    assert list_asked_containers(run(container("ANY", "IDLE", 1), container("ANY", "ANY", 2))[2]) == [1]


def test_P2_1_3_V4_a_row_of_the_whole_intent_runs() -> None:
    assert list_asked_containers(run(container("LOAN", "ANY", 1), container("ANY", "IDLE", 2))[2]) == [1]


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        pytest.param({"context": {"ticketId": "T1"}}, "T1", id="P2_1_3_V5-the context has it"),
        pytest.param({}, "where is it", id="P2_1_3_V6-the user's words stand in"),
        pytest.param(
            {
                "context": {"ticketId": "T1"},
                "input_params": {"ticketId": "T9"},
                "user_input_params": {"ticketId": "T9"},
            },
            "T9",
            id="P2_1_3_V7-the request wins",
        ),
        pytest.param({"standalone_query": "where is parcel 7"}, "where is parcel 7", id="the rewritten query"),
        pytest.param(
            {"input_params": {"ticketId": "S"}, "user_input_params": {"ticketId": "R"}}, "R", id="request over session"
        ),
    ],
)
def test_P2_1_3_V5_V6_V7_the_param_of_a_row_comes_from_the_nearest_place(fields: dict[str, Any], sent: str) -> None:
    _, _, requests = run(container("LOAN", "IDLE", name="ticketId"), **fields)

    assert requests[0].input_params["ticketId"] == sent


def test_P2_1_3_V8_a_failure_stays_with_its_row() -> None:
    down = ContainerAnswer(error_type="OSError", error_message="no route", duration_ms=7)

    session, turn, _ = run(
        container("LOAN", "IDLE", 1, "hours"), container("LOAN", "IDLE", 2, "region"), values={1: down}
    )

    assert dict(payload(turn, "CONTAINER_DATA_FAILED")) == {
        "containerId": 1, "pageId": 1, "sectionId": 2, "inputParam": "hours", "error": "no route",
        "errorType": "OSError", "durationMs": 7,
    }  # fmt: skip
    assert payload(turn, "CONTAINER_DATA_ATTACHED") == {"region": "data 2"}
    assert session.context["container_data"] == {"region": "data 2"}
    assert (session.container_data, session.has_container_data) == ("data 2", True)


def test_rows_run_by_priority_and_the_later_of_one_name_wins() -> None:
    session, turn, requests = run(container("LOAN", "IDLE", 1, priority=5), container("LOAN", "IDLE", 2, priority=9))

    assert list_asked_containers(requests) == [1, 2]
    assert session.context["container_data"] == {"faq": "data 2"}
    assert {row.row_pk for row in turn.decided_rows} == {"1", "2"}


def test_what_is_fetched_takes_the_place_of_what_was_there() -> None:
    session, _, _ = run(container("LOAN", "IDLE"), context={"container_data": {"old": 1}})

    assert session.context["container_data"] == {"faq": "data 1"}


@pytest.mark.parametrize("rows_", [(), (container("LOAN", "IDLE", 99),)], ids=["no row", "no result"])
def test_old_data_does_not_stay_when_nothing_applies(rows_: tuple[rows.Row, ...]) -> None:
    session, turn, _ = run(*rows_, context={"container_data": {"old": 1}, "kept": 2})

    assert session.context == {"kept": 2}
    assert "CONTAINER_DATA_ATTACHED" not in stages(turn)


def test_an_address_without_provider_fails_by_name() -> None:
    _, turn, _ = run(container("LOAN", "IDLE", 99))

    assert payload(turn, "CONTAINER_DATA_FAILED")["error"] == "NO_PROVIDER"


def test_rows_that_are_switched_off_or_of_such_an_intent_do_not_run() -> None:
    off = (container("LOAN", "IDLE", 1, enabled=False), container("GONE", "IDLE", 2))

    _, turn, requests = run(*off)

    assert requests == []
    assert payload(turn, "DECISION")["cut"] == {"DISABLED": 1, "INTENT_DISABLED": 1}
    assert stages(turn) == ["DECISION", "CONTAINER_DATA_SKIPPED"]


@pytest.mark.parametrize(
    ("rows_", "fields", "reason"),
    [
        ((make_config("AddContainerDataStep/ENABLED", "false"),), {}, "DISABLED"),
        ((), {"reset_only": True}, "RESET_ONLY"),
    ],
)
def test_nothing_is_fetched_when_switched_off_or_only_reset(
    rows_: tuple[rows.Row, ...], fields: dict[str, Any], reason: str
) -> None:
    _, turn, requests = run(container("LOAN", "IDLE"), *rows_, **fields)

    assert payload(turn, "CONTAINER_DATA_SKIPPED")["reason"] == reason
    assert requests == []


def test_an_address_has_its_own_limits() -> None:
    limits = (
        make_config("AddContainerDataStep/TIMEOUT_MS.1-2-1", "500"),
        make_config("AddContainerDataStep/MAX_BYTES", "100"),
    )

    _, _, requests = run(container("LOAN", "IDLE", 1, "a"), container("LOAN", "IDLE", 2, "b"), *limits)

    assert [(request.timeout_ms, request.max_bytes) for request in requests] == [(500, 100), (3000, 100)]


def test_named_params_are_masked_in_the_audit_only() -> None:
    hide = make_config("AddContainerDataStep/REDACT_PARAMS", "cardNo")

    _, turn, requests = run(container("LOAN", "IDLE", name="cardNo"), hide, context={"cardNo": "4111"})

    assert requests[0].input_params["cardNo"] == "4111"
    assert payload(turn, "CONTAINER_DATA_EXECUTED")["requestInput"]["cardNo"] == "***"


def test_the_audit_shows_what_an_interceptor_made_of_the_request() -> None:
    answer = ContainerAnswer("found", sent={"faq": "changed"})

    _, turn, _ = run(container("LOAN", "IDLE"), values={1: answer})

    assert payload(turn, "CONTAINER_DATA_EXECUTED")["requestInput"] == {"faq": "changed"}
    assert payload(turn, "CONTAINER_DATA_EXECUTED")["response"] == "found"
