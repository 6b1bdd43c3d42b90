from collections.abc import Mapping
from typing import Any

import pytest

from convengine.engine.steps.actions.action_lifecycle import ActionLifecycleStep
from convengine.engine.steps.actions.pending_action import PendingActionStep
from convengine.engine.turn.ports import TaskAnswer
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
from tests.fakes.ports import BookOfExecutions, RecordingTasks

ROW = make_action("CANCEL", priority=10)
EXECUTE, REJECT, RECLASSIFY = "EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "RECLASSIFY_INTENT"


def refunds(answer: Any = None) -> RecordingTasks:
    return RecordingTasks({"billing:refund": answer or TaskAnswer({"id": 7})})


def run(
    *rows: Row,
    decision: str = EXECUTE,
    tasks: RecordingTasks | None = None,
    book: BookOfExecutions | None = None,
    lifecycle: bool = True,
    **fields: Any,
) -> tuple[Session, Turn]:
    """The step, in a session as the lifecycle of the same turn leaves it."""
    turn = make_turn(make_snapshot(make_intent("ORDER"), *rows), tasks=tasks or refunds(), executions=book, turn_no=6)
    params = {"policy_decision": decision, **fields.pop("params", {})}
    late = fields.pop("late", {})
    values = {"intent": "ORDER", "state": "CONFIRM", "interaction_decision": decision, **fields}
    session = Session(CONVERSATION, 6, **values).with_params(params)
    if lifecycle:
        session = ActionLifecycleStep().execute(session, turn).session
        turn.trail.events.clear()
    session = session.evolve(**{name: value for name, value in late.items() if name != "params"})
    session = session.with_params(late.get("params", {}))
    return PendingActionStep().execute(session, turn).session, turn


def list_calls(turn: Turn) -> list[str]:
    tasks = turn.ports.tasks
    assert isinstance(tasks, RecordingTasks)
    return tasks.calls


def record(session: Session) -> Mapping[str, Any]:
    runtime: Mapping[str, Any] = session.context["pending_action_runtime"]
    return runtime


def test_P2_2_5_V1_without_a_decision_nothing_happens() -> None:
    session, turn = run(ROW, decision=RECLASSIFY)

    assert (stages(turn), list_calls(turn)) == ([], [])
    assert "pending_action_result" not in session.input_params


def test_P2_2_5_V2_a_confirmed_action_runs_and_leaves_its_result() -> None:
    session, turn = run(ROW)

    runtime = record(session)
    assert list_calls(turn) == ["billing:refund"]
    assert (runtime["status"], runtime["executed_turn"]) == ("EXECUTED", 6)
    assert runtime["result"] == {
        "status": "EXECUTED",
        "values": [{"id": 7}],
        "errorType": None,
        "finishedAt": "2026-01-15T12:00:00+00:00",
    }
    params = session.input_params
    assert (params["pending_action_result"], params["pending_action_runtime_status"]) == ("EXECUTED", "EXECUTED")
    event = dict(payload(turn, "PENDING_ACTION_EXECUTED"))
    assert event.pop("context") is session.context
    assert event == {
        "policyDecision": EXECUTE,
        "pendingActionRef": "billing:refund",
        "intent": "ORDER",
        "state": "CONFIRM",
        "pendingActionResult": "EXECUTED",
        "taskBean": "billing",
        "taskMethods": "refund",
        "durationMs": 0,
        "executionId": 0,
    }
    assert payload(turn, "DECISION")["winner"] == ROW.pending_action_id


def get_skip_reason(turn: Turn) -> str:
    assert list_calls(turn) == []
    return str(payload(turn, "PENDING_ACTION_SKIPPED")["reason"])


def test_P2_2_5_V3_two_equal_actions_without_a_key_run_nothing() -> None:
    _, turn = run(make_action("A", priority=10), make_action("B", priority=10))

    assert get_skip_reason(turn) == "AMBIGUOUS_OR_NO_KEY"


def test_P2_2_5_V4_the_better_priority_runs() -> None:
    tasks = RecordingTasks({"a:x": TaskAnswer(1), "b:x": TaskAnswer(1)})
    rows = (
        make_action("A", bean_name="a", method_names="x", priority=10),
        make_action("B", bean_name="b", method_names="x", priority=5),
    )

    assert list_calls(run(*rows, tasks=tasks)[1]) == ["b:x"]


def test_P2_2_5_V5_what_the_guardrail_holds_back_is_skipped() -> None:
    blocked = {"guardrail_blocked": True, "skip_pending_action_execution": True, "policy_decision": RECLASSIFY}
    _, turn = run(ROW, late={"params": blocked})

    assert get_skip_reason(turn) == "GUARDRAIL"
    event = payload(turn, "PENDING_ACTION_SKIPPED")
    assert (event["policyDecision"], event["pendingActionRef"]) == (RECLASSIFY, "billing:refund")


def test_P2_2_5_V6_a_refused_action_is_rejected_and_not_run() -> None:
    session, turn = run(ROW, decision=REJECT)

    assert list_calls(turn) == []
    assert (record(session)["status"], session.input_params["pending_action_result"]) == ("REJECTED", "REJECTED")
    assert payload(turn, "PENDING_ACTION_REJECTED")["pendingActionResult"] == "REJECTED"


def get_failure(turn: Turn) -> str:
    return str(payload(turn, "PENDING_ACTION_FAILED")["reason"])


@pytest.mark.parametrize("reference", ["billing:", " billing : ,"])
def test_P2_2_5_V7_a_reference_without_a_method_fails(reference: str) -> None:
    tasks = RecordingTasks(from_context=frozenset({"billing"}))
    session, turn = run(tasks=tasks, context={"pending_action": reference})

    assert (get_failure(turn), list_calls(turn)) == ("INVALID_REFERENCE", [])
    assert (record(session)["status"], session.input_params["pending_action_result"]) == ("FAILED", "FAILED")


def test_P2_2_5_V8_a_task_that_raises_fails_the_action_and_not_the_turn() -> None:
    session, turn = run(ROW, tasks=refunds(TaskAnswer(error_type="ValueError", error_message="no such order")))

    event = payload(turn, "PENDING_ACTION_FAILED")
    assert (event["reason"], event["errorType"], event["reasonText"]) == ("ValueError", "ValueError", "no such order")
    assert (record(session)["status"], record(session)["failed_turn"]) == ("FAILED", 6)
    assert record(session)["result"]["errorType"] == "ValueError"
    assert "no such order" not in str(record(session))


def test_P2_2_5_V9_after_a_method_that_says_no_the_next_is_not_run() -> None:
    tasks = RecordingTasks({"billing:a": TaskAnswer(False, refusal="RETURNED_FALSE"), "billing:b": TaskAnswer(1)})
    session, turn = run(make_action("X", method_names="a, b"), tasks=tasks)

    assert (list_calls(turn), get_failure(turn)) == (["billing:a"], "RETURNED_FALSE")
    assert record(session)["status"] == "FAILED"


def test_P2_2_5_V10_a_claim_of_another_turn_runs_nothing() -> None:
    book = BookOfExecutions()
    first, _ = run(ROW, book=book)
    nonce = record(first)["nonce"]
    book.claims[nonce] = ("CLAIMED", None, "")
    session, turn = run(ROW, book=book)

    assert get_skip_reason(turn) == "ALREADY_CLAIMED"
    assert record(session)["status"] == "IN_PROGRESS"
    assert "pending_action_result" not in session.input_params


def test_methods_run_in_order_and_each_sees_what_the_ones_before_it_did() -> None:
    seen: list[Any] = []

    def second(session: Session) -> TaskAnswer:
        seen.append((session.context["order"], session.input_params["told"]))
        return TaskAnswer(2)

    first = TaskAnswer(1, context={"order": "A7"}, input_params={"told": True})
    tasks = RecordingTasks({"billing:a": first, "billing:b": second, "billing:c": TaskAnswer(3)})
    session, turn = run(make_action("X", method_names="a,b, c,"), tasks=tasks)

    assert list_calls(turn) == ["billing:a", "billing:b", "billing:c"]
    assert seen == [("A7", True)]
    assert record(session)["result"]["values"] == [1, 2, 3]
    assert session.context["order"] == "A7"
    assert payload(turn, "PENDING_ACTION_EXECUTED")["taskMethods"] == "a,b,c"


def test_each_method_gets_the_key_of_its_opening_and_its_time() -> None:
    limit = make_config("PendingActionStep/TIMEOUT_MS.CANCEL", "250")
    session, turn = run(ROW, limit)

    tasks = turn.ports.tasks
    assert isinstance(tasks, RecordingTasks)
    (action,) = tasks.actions
    assert action is not None
    assert (action.idempotency_key, action.timeout_ms) == (f"{CONVERSATION}:{record(session)['nonce']}", 250)


def test_several_methods_of_an_action_have_different_keys() -> None:
    tasks = RecordingTasks({"orders:charge": TaskAnswer(1), "orders:refund": TaskAnswer(2)})
    session, _ = run(make_action("X", bean_name="orders", method_names="charge,refund"), tasks=tasks)

    opening = f"{CONVERSATION}:{record(session)['nonce']}"
    keys = [action.idempotency_key for action in tasks.actions if action]
    assert keys == [f"{opening}:charge", f"{opening}:refund"]


@pytest.mark.parametrize(("changed", "is_same"), [({"dialogue": {"misses": 1}}, True), ({"order": "A8"}, False)])
def test_what_was_confirmed_are_the_fields_and_not_the_state_of_the_dialogue(
    changed: Mapping[str, Any], is_same: bool
) -> None:
    first, again = BookOfExecutions(), BookOfExecutions()
    run(ROW, book=first, context={"order": "A7"})
    run(ROW, book=again, context={"order": "A7", **changed})

    assert (first.claims == again.claims) is is_same


def test_a_method_that_returns_nothing_fails_unless_it_may() -> None:
    assert get_failure(run(ROW, tasks=refunds(TaskAnswer(None, refusal="NULL_RESULT")))[1]) == "NULL_RESULT"
    assert "PENDING_ACTION_EXECUTED" in stages(run(ROW, tasks=refunds(TaskAnswer(None)))[1])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(make_action("X", bean_name="nobody", method_names="x"), id="no such task"),
        pytest.param(make_action("X", method_names="melt"), id="no such method"),
        pytest.param(make_action("X", method_names="refund:now"), id="split at the first colon"),
    ],
)
def test_what_is_not_registered_fails_and_is_not_claimed(row: Row) -> None:
    book = BookOfExecutions()
    session, turn = run(row, book=book)

    assert (get_failure(turn), book.claims) == ("NOT_REGISTERED", {})
    assert record(session)["status"] == "FAILED"


def test_a_key_without_a_row_says_so() -> None:
    _, turn = run(ROW, params={"pending_action_key": "SHIP"})

    assert get_skip_reason(turn) == "NO_REFERENCE"
    assert payload(turn, "PENDING_ACTION_SKIPPED")["actionKey"] == "SHIP"


def test_a_row_without_a_task_is_no_action() -> None:
    assert get_skip_reason(run(make_action("X", method_names=" "))[1]) == "AMBIGUOUS_OR_NO_KEY"


def test_data_in_the_context_chooses_no_code_that_was_not_registered_for_it() -> None:
    proposal = {"pending_action": "billing:refund"}

    assert get_skip_reason(run(context=proposal)[1]) == "AMBIGUOUS_OR_NO_KEY"


def test_a_task_that_the_context_may_name_runs() -> None:
    tasks = RecordingTasks({"billing:refund": TaskAnswer(1)}, from_context=frozenset({"billing"}))
    session, turn = run(tasks=tasks, context={"pendingAction": {"beanName": "billing", "methodName": "refund"}})

    assert list_calls(turn) == ["billing:refund"]
    assert "pendingAction" not in session.context


def test_a_name_alone_runs_the_function_of_that_name_or_run() -> None:
    function = RecordingTasks({"ticket:ticket": TaskAnswer(1)}, from_context=frozenset({"ticket"}))
    object_ = RecordingTasks(
        {"billing:run": TaskAnswer(1), "billing:x": TaskAnswer(1)}, from_context=frozenset({"billing"})
    )

    assert list_calls(run(tasks=function, context={"pending_action": "ticket"})[1]) == ["ticket:ticket"]
    assert list_calls(run(tasks=object_, context={"pending_action": {"task": "billing"}})[1]) == ["billing:run"]


@pytest.mark.parametrize(
    ("late", "reason"),
    [
        ({"params": {"pending_action_result": "EXPIRED", "skip_pending_action_execution": True}}, "EXPIRED"),
        ({"params": {"skip_pending_action_execution": "yes"}}, "RULE"),
        ({"params": {"policy_decision": RECLASSIFY}}, "RULE"),
        ({"reply_override": ReplyOverride("Later.", "SESSION")}, "REPLY_OVERRIDE"),
        ({"reset_only": True}, "REPLY_OVERRIDE"),
    ],
)
def test_what_is_held_back_says_why(late: dict[str, Any], reason: str) -> None:
    assert get_skip_reason(run(ROW, late=late)[1]) == reason


def test_a_question_in_this_turn_has_told_it_already() -> None:
    params = {"policy_decision": RECLASSIFY, "pending_action_disambiguation_required": True}
    _, turn = run(ROW, late={"params": params})

    assert (stages(turn), list_calls(turn)) == ([], [])


@pytest.mark.parametrize("late", [{"guardrail_blocked": True}, {"skip_pending_action_execution": True}])
def test_rejecting_is_never_held_back(late: dict[str, Any]) -> None:
    session, turn = run(ROW, decision=REJECT, late={"params": late})

    assert stages(turn)[-1] == "PENDING_ACTION_REJECTED"
    assert session.input_params["pending_action_result"] == "REJECTED"


def test_an_action_that_was_executed_in_this_scope_says_so() -> None:
    done = {"status": "EXECUTED", "action_key": "CANCEL", "action_ref": "billing:refund", "scope": "ORDER|CONFIRM"}
    session, turn = run(ROW, context={"pending_action_runtime": done})

    assert get_skip_reason(turn) == "RUNTIME_STATUS_EXECUTED"
    assert record(session)["status"] == "EXECUTED"


def test_a_no_does_not_undo_what_was_executed() -> None:
    done = {"status": "EXECUTED", "action_key": "CANCEL", "action_ref": "billing:refund", "scope": "ORDER|CONFIRM"}
    session, turn = run(ROW, decision=REJECT, context={"pending_action_runtime": done})

    assert get_skip_reason(turn) == "RUNTIME_STATUS_EXECUTED"
    assert record(session)["status"] == "EXECUTED"


def test_an_action_that_nobody_confirmed_is_not_run_because_a_rule_decided_so() -> None:
    _, turn = run(ROW, decision=RECLASSIFY, late={"params": {"policy_decision": EXECUTE}})

    assert get_skip_reason(turn) == "RUNTIME_STATUS_OPEN"


def test_the_action_runs_in_the_scope_in_which_it_was_confirmed() -> None:
    row = make_action("CANCEL", intent_code="ORDER", state_code="CONFIRM")
    other = make_action("OTHER", intent_code="ORDER", state_code="MOVED", bean_name="other")
    _, turn = run(row, other, late={"state": "MOVED"})

    assert list_calls(turn) == ["billing:refund"]
    assert payload(turn, "PENDING_ACTION_EXECUTED")["state"] == "MOVED"


def test_a_no_to_what_expires_in_this_turn_is_heard() -> None:
    before = {
        "status": "OPEN", "action_key": "CANCEL", "action_ref": "billing:refund", "scope": "ORDER|CONFIRM",
        "created_turn": 3, "expires_turn": 6,
    }  # fmt: skip
    session, _ = run(ROW, decision=REJECT, context={"pending_action_runtime": before})

    assert session.input_params["pending_action_result"] == "REJECTED"
    assert record(session)["status"] == "EXPIRED"


LEFTOVERS = {
    "pending_action": {"key": "CANCEL"},
    "pendingAction": "x",
    "pending_action_key": "CANCEL",
    "pendingActionKey": "CANCEL",
    "approval": {"granted": True},
}


@pytest.mark.parametrize("decision", [EXECUTE, REJECT])
def test_what_proposed_the_action_and_asked_about_it_goes_with_it(decision: str) -> None:
    clarification = Clarification("Which?", "PENDING_ACTION_DISAMBIGUATION", from_previous_turn=True)
    session, _ = run(
        ROW, decision=decision, context={**LEFTOVERS, "qty": 1}, params={"pending_action_key": "CANCEL"},
        clarification=clarification,
    )  # fmt: skip

    assert set(session.context) == {"qty", "pending_action_runtime", "pending_action_ordinal"}
    assert "pending_action_key" not in session.input_params
    assert session.clarification is None


def test_a_failed_action_keeps_its_key_but_not_its_approval() -> None:
    answer = TaskAnswer(error_type="ValueError")
    session, _ = run(ROW, tasks=refunds(answer), context=LEFTOVERS, params={"pending_action_key": "CANCEL"})

    assert set(LEFTOVERS) - set(session.context) == {"approval"}
    assert session.input_params["pending_action_key"] == "CANCEL"


def test_a_task_may_propose_the_next_action_but_not_write_its_own_record() -> None:
    wrote = {"pending_action": "billing:ship", "pending_action_runtime": {"status": "OPEN"}, "note": "x"}
    session, _ = run(ROW, tasks=refunds(TaskAnswer(1, context=wrote, context_removed=["pending_action_ordinal"])))

    assert (session.context["pending_action"], session.context["note"]) == ("billing:ship", "x")
    assert (record(session)["status"], session.context["pending_action_ordinal"]) == ("EXECUTED", 2)


def test_a_result_that_is_too_large_is_left_out() -> None:
    session, _ = run(ROW, tasks=refunds(TaskAnswer("x" * 20_000)))

    assert record(session)["result"]["values"] == []
    assert record(session)["result"]["truncated"] is True


def test_a_run_whose_turn_was_lost_is_told_again_and_not_repeated() -> None:
    book = BookOfExecutions()
    tasks = refunds(TaskAnswer({"id": 7}, context={"refund": 7}, input_params={"seen": True}))
    lost_session, _ = run(ROW, book=book, tasks=tasks)
    session, turn = run(ROW, book=book, tasks=tasks)

    assert list_calls(turn) == ["billing:refund"]
    event = payload(turn, "PENDING_ACTION_EXECUTED")
    assert (event["reused"], event["sameRequest"]) == (True, True)
    assert (session.context, session.input_params) == (lost_session.context, lost_session.input_params)


def test_a_failure_whose_turn_was_lost_is_told_again_too() -> None:
    book = BookOfExecutions()
    tasks = refunds(TaskAnswer(error_type="ValueError", error_message="no such order"))
    run(ROW, book=book, tasks=tasks)
    session, turn = run(ROW, book=book, tasks=tasks, context={"order": "another"})

    assert list_calls(turn) == ["billing:refund"]
    event = payload(turn, "PENDING_ACTION_FAILED")
    assert (event["reason"], event["reasonText"], event["reused"]) == ("ValueError", "no such order", True)
    assert event["sameRequest"] is False
    assert record(session)["status"] == "FAILED"


def test_a_further_yes_after_a_failure_runs_it_anew() -> None:
    book = BookOfExecutions()
    bad, _ = run(ROW, book=book, tasks=refunds(TaskAnswer(error_type="ValueError")))
    session, turn = run(ROW, book=book, context=bad.context)

    assert list_calls(turn) == ["billing:refund"]
    assert record(session)["status"] == "EXECUTED"
    assert len(book.claims) == 2


OFF = make_config("ActionLifecycleStep/ENABLED", "false")


def test_with_the_lifecycle_off_an_action_runs_without_limits_and_once() -> None:
    session, turn = run(ROW, OFF)

    assert list_calls(turn) == ["billing:refund"]
    assert (record(session)["status"], record(session)["expires_turn"]) == ("EXECUTED", -1)

    _, turn = run(ROW, OFF, context=session.context)
    assert get_skip_reason(turn) == "RUNTIME_STATUS_EXECUTED"

    _, turn = run(ROW, OFF, context=session.context, state="OTHER")
    assert list_calls(turn) == ["billing:refund"]


def test_with_the_lifecycle_off_a_no_is_heard() -> None:
    session, turn = run(ROW, OFF, decision=REJECT)

    assert (list_calls(turn), session.input_params["pending_action_result"]) == ([], "REJECTED")
