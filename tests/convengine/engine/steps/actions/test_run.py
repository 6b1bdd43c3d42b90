"""A confirmed action runs at most once, whatever becomes of its turn: on the database, through the API."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import CeAudit
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig, CeIntent, CePendingAction, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.server import wiring
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CePendingActionExecution
from tests.api import Caller

IN_ONE_TRANSACTION = pytest.mark.django_db
FOR_REAL = pytest.mark.django_db(transaction=True)


class Refund:
    """A task with an effect that must not happen twice."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.does: Any = lambda call: {"id": len(self.keys)}

    def run(self, call: TaskCall) -> Any:
        self.keys.append(call.idempotency_key)
        call.set_context("refund", len(self.keys))
        return self.does(call)


@pytest.fixture
def refund() -> Iterator[Refund]:
    task = Refund()
    registry.add_task("refund", TaskEntry({"run": task.run}))
    yield task
    del registry.tasks["refund"]


@pytest.fixture
def caller(refund: Refund) -> Caller:
    """A conversation that waits for a yes in ORDER/CONFIRM, and goes to DONE when the action ran."""
    with change_set(reason="an order"):
        CeResponse.objects.all().delete()
        CeIntent.objects.create(intent_code="ORDER", description="orders")
        CePendingAction.objects.create(
            intent_code="ORDER", state_code="CONFIRM", action_key="REFUND", bean_name="refund", method_names="run"
        )
        CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="ORDER", state_code="CONFIRM", rule_type="JSON_PATH",
            match_pattern="$[?(@.inputParams.pending_action_result == 'EXECUTED')]",
            action="SET_STATE", action_value="DONE",
        )  # fmt: skip
        for state in ("CONFIRM", "DONE"):
            CeResponse.objects.create(
                intent_code="ORDER", state_code=state, response_type="EXACT", exact_text=state.lower()
            )
    caller = Caller()
    CeConversation.objects.create(
        conversation_id=caller.conversation_id,
        intent_code="ORDER",
        state_code="CONFIRM",
        remote_jid=caller.conversation_id,
    )
    return caller


def stays_in_confirm() -> None:
    with change_set(reason="no rules"):
        CeRule.objects.all().delete()


def events(turn: int, *stages: str) -> list[dict[str, Any]]:
    rows = CeAudit.objects.filter(turn_no=turn, stage__in=stages).order_by("seq")
    return [{"stage": event.stage, **event.payload_json} for event in rows]


def outcome(turn: int) -> tuple[str, str | None]:
    """What PendingActionStep told in a turn, and why."""
    (event,) = events(turn, *(f"PENDING_ACTION_{how}" for how in ("EXECUTED", "FAILED", "SKIPPED", "REJECTED")))
    return event["stage"].removeprefix("PENDING_ACTION_"), event.get("reason")


def turns_replay_equal() -> None:
    for record in CeConversationHistory.objects.filter(replayable=True):
        assert find_replay_difference(record) is None, record.turn_no


@IN_ONE_TRANSACTION
def test_a_yes_runs_it_and_its_result_decides_the_answer(caller: Caller, refund: Refund) -> None:
    answer = caller.say("yes")

    assert (answer["state"], answer["payload"]["value"]) == ("DONE", "done")
    assert answer["context"]["pending_action_runtime"]["result"]["values"] == [{"id": 1}]
    row = CePendingActionExecution.objects.get()
    assert (row.status, row.result_json["values"]) == ("EXECUTED", [{"id": 1}])
    assert refund.keys == [f"{caller.conversation_id}:{row.runtime_nonce}"]
    turns_replay_equal()
    assert len(refund.keys) == 1


@IN_ONE_TRANSACTION
def test_the_same_yes_twice_runs_it_once(caller: Caller, refund: Refund) -> None:
    stays_in_confirm()
    caller.say("yes")
    again = caller.say("yes")

    assert (len(refund.keys), again["state"]) == (1, "CONFIRM")
    (decided,) = events(2, "INTERACTION_POLICY_DECIDED")
    assert (decided["policyDecision"], decided["hasPendingAction"]) == ("RECLASSIFY_INTENT", False)
    turns_replay_equal()


@FOR_REAL
@pytest.mark.amended("R28")
def test_P2_2_5_V10_two_yeses_at_once_run_it_once(caller: Caller, refund: Refund) -> None:
    stays_in_confirm()
    refund.does = lambda call: time.sleep(0.2) or {"id": 1}
    gate, answers = threading.Barrier(2), []

    def speak() -> None:
        speaker = Caller(caller.secret, caller.conversation_id)
        try:
            gate.wait()
            answers.append(speaker.say("yes")["success"])
        finally:
            connection.close()

    threads = [threading.Thread(target=speak) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (answers, len(refund.keys)) == ([True, True], 1)
    assert CePendingActionExecution.objects.get().status == "EXECUTED"
    turns_replay_equal()
    assert len(refund.keys) == 1


@IN_ONE_TRANSACTION
def test_a_turn_that_failed_after_the_task_ran_does_not_run_it_again(caller: Caller, refund: Refund) -> None:
    with change_set(reason="forget the answer"):
        CeResponse.objects.filter(state_code="DONE").delete()
    failed = caller.say("yes")
    with change_set(reason="remember it"):
        CeResponse.objects.create(intent_code="ORDER", state_code="DONE", response_type="EXACT", exact_text="done")
    answer = caller.say("yes")

    assert failed["errorCode"] == "RESPONSE_MAPPING_NOT_FOUND"
    assert (answer["state"], answer["context"]["refund"]) == ("DONE", 1)
    assert len(refund.keys) == 1
    (event,) = events(2, "PENDING_ACTION_EXECUTED")
    assert (event["reused"], event["sameRequest"]) == (True, True)
    turns_replay_equal()
    assert len(refund.keys) == 1


class Death(BaseException):
    """What ends a process is no error that anything catches."""


class DiesBefore(StepHook):
    """The process ends when a step begins."""

    def __init__(self, step: str) -> None:
        self.step = step

    def before_step(self, step_name: str, session: Any, turn: Any) -> Any:
        if step_name == self.step:
            raise Death
        return session


def dies(caller: Caller) -> None:
    """Say yes in a turn that dies; its lease runs out."""
    with pytest.raises(Death):
        caller.say("yes")
    CeConversation.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1))


@IN_ONE_TRANSACTION
def test_a_turn_that_died_after_the_task_ran_does_not_run_it_again(
    caller: Caller, refund: Refund, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring.engine(), "_hooks", Hooks([DiesBefore("RulesStep")]))
    dies(caller)
    monkeypatch.undo()
    answer = caller.say("yes")

    assert (answer["state"], len(refund.keys)) == ("DONE", 1)
    assert outcome(2) == ("EXECUTED", None)
    turns_replay_equal()


@IN_ONE_TRANSACTION
def test_a_turn_that_died_while_the_task_ran_leaves_it_to_a_person(caller: Caller, refund: Refund) -> None:
    def dying(call: TaskCall) -> None:
        raise Death

    refund.does = dying
    dies(caller)
    refund.does = lambda call: "second"
    answers = [caller.say("yes") for _ in range(2)]

    assert ([answer["state"] for answer in answers], len(refund.keys)) == (["CONFIRM", "CONFIRM"], 1)
    assert (outcome(2), outcome(3)) == (("SKIPPED", "ALREADY_CLAIMED"), ("SKIPPED", "ALREADY_CLAIMED"))
    assert CePendingActionExecution.objects.get().status == "CLAIMED"
    turns_replay_equal()

    # The person found out that it had worked.
    CePendingActionExecution.objects.update(status="EXECUTED", result_json={"values": ["by hand"]})
    assert caller.say("yes")["state"] == "DONE"
    assert len(refund.keys) == 1


@IN_ONE_TRANSACTION
def test_no_later_opening_runs_what_a_dead_turn_may_have_done(caller: Caller, refund: Refund) -> None:
    def dying(call: TaskCall) -> None:
        raise Death

    CeConfig.objects.create(config_type="ActionLifecycleStep", config_key="TTL_TURNS", config_value="2")
    caller.say("hm")
    refund.does = dying
    dies(caller)
    refund.does = lambda call: "second"
    answers = [caller.say("yes") for _ in range(5)]

    assert (outcome(3), len(refund.keys)) == (("SKIPPED", "EXPIRED"), 1)
    # Opened anew, with a nonce of its own; and from then on it waits for the person.
    assert [outcome(turn) for turn in range(4, 8)] == [("SKIPPED", "ALREADY_CLAIMED")] * 4
    runtime = answers[-1]["context"]["pending_action_runtime"]
    row = CePendingActionExecution.objects.get()
    assert (row.status, runtime["status"], runtime["nonce"]) == ("CLAIMED", "IN_PROGRESS", str(row.runtime_nonce))

    CePendingActionExecution.objects.update(status="EXECUTED", result_json={"values": ["by hand"]})
    assert caller.say("yes")["state"] == "DONE"
    assert len(refund.keys) == 1
    turns_replay_equal()


@IN_ONE_TRANSACTION
def test_a_further_yes_after_a_failure_runs_it_anew(caller: Caller, refund: Refund) -> None:
    def fails(call: TaskCall) -> None:
        raise ValueError("the bank is closed")

    refund.does = fails
    first = caller.say("yes")
    refund.does = lambda call: "done"
    second = caller.say("yes")

    assert first["context"]["pending_action_runtime"]["status"] == "FAILED"
    assert (second["state"], len(refund.keys), len(set(refund.keys))) == ("DONE", 2, 2)
    assert "the bank is closed" not in str(first)
    turns_replay_equal()
    assert len(refund.keys) == 2


@IN_ONE_TRANSACTION
def test_a_task_that_takes_too_long_fails_the_action_and_not_the_turn(caller: Caller, refund: Refund) -> None:
    CeConfig.objects.create(config_type="PendingActionStep", config_key="TIMEOUT_MS.refund", config_value="100")
    gate = threading.Event()
    refund.does = lambda call: gate.wait(10)
    answer = caller.say("yes")
    gate.set()

    assert answer["success"]
    assert answer["context"]["pending_action_runtime"]["status"] == "FAILED"
    assert outcome(1) == ("FAILED", "TimeoutError")
    assert "refund" not in answer["context"]
    turns_replay_equal()


@IN_ONE_TRANSACTION
def test_after_a_reset_the_same_action_is_another_opening(caller: Caller, refund: Refund) -> None:
    stays_in_confirm()
    caller.say("yes")
    caller.say("/reset")
    CeConversation.objects.update(intent_code="ORDER", state_code="CONFIRM")
    caller.say("yes")

    assert len(set(refund.keys)) == 2


@IN_ONE_TRANSACTION
def test_a_no_runs_nothing_and_claims_nothing(caller: Caller, refund: Refund) -> None:
    caller.say("no")

    assert outcome(1) == ("REJECTED", None)
    assert (refund.keys, CePendingActionExecution.objects.count()) == ([], 0)
    turns_replay_equal()


@IN_ONE_TRANSACTION
def test_why_shows_which_action_was_meant(caller: Caller) -> None:
    other = CePendingAction.objects.create(
        intent_code="ORDER", state_code="CONFIRM", action_key="SHIP", bean_name="refund", method_names="run",
        priority=200,
    )  # fmt: skip
    elsewhere = CePendingAction.objects.create(
        intent_code="ORDER", state_code="DONE", action_key="THANK", bean_name="refund", method_names="run"
    )
    caller.say("yes")

    shown = caller.get("/why", turn=1).json()["decisions"]
    decisions = [decision for decision in shown if decision["kind"] == "PENDING_ACTION"]
    assert [decision["step"] for decision in decisions] == ["ActionLifecycleStep", "PendingActionStep"]
    reasons = {row["id"]: row["reason"] for row in decisions[1]["candidates"]}
    assert (reasons[other.pk], reasons[elsewhere.pk]) == ("LOWER_PRIORITY", "SCOPE_STATE")
    assert decisions[1]["winners"] == [min(reasons)]
