"""The task of a rule gets one key for all attempts of a turn, and another one for another message or turn.

A task that may run again runs in each attempt; another one runs once.
"""

import uuid
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from audit.models import CeAudit
from audit.replay.replay import replay_turn
from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from convengine.engine.errors import ConversationPersistFailed
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.confirmed_actions.review import Settlement, settle_execution
from convengine.server.confirmed_actions.run_once import Executions
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.sessions.models import CeConversationHistory, CePendingActionExecution
from convengine.server.turns import take_turn as module
from convengine.server.turns.take_turn import take_turn

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def keys() -> list[str | None]:
    """The keys that the methods were called with."""
    return []


@pytest.fixture
def buy() -> TurnRequest:
    """A message whose rule runs two methods of the task `till`."""
    CeIntent.objects.create(intent_code="BUY")
    CeIntentClassifier.objects.create(intent_code="BUY", state_code="IDLE", rule_type="CONTAINS", pattern="buy")
    CeResponse.objects.create(intent_code="BUY", state_code="ANY", response_type="EXACT", exact_text="Thank you.")
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="BUY", state_code="ANY", rule_type="EXACT",
        match_pattern="ANY", action="SET_TASK", action_value="till:ring,print",
    )  # fmt: skip
    return TurnRequest(str(uuid.uuid4()), "I buy it")


def run_tasks(keys: list[str | None], **entry: Any) -> AbstractContextManager[None]:
    """The task is registered."""

    def ring(call: TaskCall) -> None:
        keys.append(call.idempotency_key)
        call.set_context("receipts", [*call.context.get("receipts", ()), len(keys)])

    registry = Registry()
    registry.add_task("till", TaskEntry({"ring": ring, "print": ring}, returns_none=True, **entry))
    return wiring.replace_outside_world(wiring.OutsideWorld(registry=registry))


def lose_turn(turn: TurnRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a turn that runs and is not committed."""
    with monkeypatch.context() as broken:
        broken.setattr(module, "commit_turn", lose_the_database)
        with pytest.raises(ConversationPersistFailed):
            take_turn(turn)


def test_an_attempt_that_is_not_committed_is_repeated_under_the_same_keys(
    keys: list[str | None], buy: TurnRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_tasks(keys, repeatable=True):
        take_turn(buy)
        lose_turn(buy, monkeypatch)
        lose_turn(replace(buy, message="I buy two"), monkeypatch)
        take_turn(buy)
        take_turn(buy)

    first, lost, other, repeated, last = ({keys[number], keys[number + 1]} for number in range(0, 10, 2))
    assert lost == repeated
    assert len(first | repeated | other | last) == 8
    assert not CePendingActionExecution.objects.exists()


def test_a_task_is_not_run_again_for_a_turn_that_is_taken_again(
    keys: list[str | None], buy: TurnRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_tasks(keys):
        lose_turn(buy, monkeypatch)
        again: Any = take_turn(buy)

    assert len(set(keys)) == 2
    # What the methods of the lost turn wrote is in the conversation.
    assert again.session.context["receipts"] == [1, 2]
    row = CePendingActionExecution.objects.get()
    assert (row.action_key, row.action_ref, row.status) == (
        f"rule:{CeRule.objects.get().pk}",
        "till:ring,print",
        "EXECUTED",
    )
    event = CeAudit.objects.get(stage="SET_TASK", turn_no=again.turn_no)
    assert (event.payload_json["executionId"], event.payload_json["reused"]) == (row.pk, True)
    assert replay_turn(CeConversationHistory.objects.get(turn_no=again.turn_no)).answers[0]["value"] == "Thank you."


def test_another_message_or_turn_runs_it(
    keys: list[str | None], buy: TurnRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_tasks(keys):
        lose_turn(buy, monkeypatch)
        take_turn(replace(buy, message="I buy two"))
        take_turn(replace(buy, message="I buy two"))

    assert len(set(keys)) == len(keys) == 6


def test_a_message_that_is_said_again_later_hears_the_result_of_the_lost_turn_once(
    keys: list[str | None], buy: TurnRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_tasks(keys):
        lose_turn(buy, monkeypatch)
        CeRule.objects.update(enabled=False)
        take_turn(replace(buy, message="hello?"))
        CeRule.objects.update(enabled=True)
        take_turn(buy)
        assert len(keys) == 2
        take_turn(buy)

    assert len(keys) == 4


def test_a_task_with_an_unknown_end_waits_for_a_person_and_rules_know(
    keys: list[str | None], buy: TurnRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="BUY", state_code="ANY", rule_type="JSON_PATH", priority=999,
        match_pattern="$[?(@.inputParams.rule_task_error.errorType == 'ALREADY_CLAIMED')]",
        action="SET_CONTEXT", action_value="in_doubt:true",
    )  # fmt: skip
    with run_tasks(keys):
        with monkeypatch.context() as broken:
            broken.setattr(Executions, "finish", lose_the_database)
            lost: Any = take_turn(buy)
        assert lost.error.code == "CONVERSATION_PERSIST_FAILED"
        assert len(keys) == 2
        for message in ("I buy it", "I buy two"):
            waiting: Any = take_turn(replace(buy, message=message))
            assert waiting.session.context["in_doubt"] is True
        assert len(keys) == 2

        row = CePendingActionExecution.objects.get()
        settle_execution(row.pk, Settlement(False, User.objects.create_user("ada"), "The till shows nothing."))
        take_turn(buy)
    assert len(keys) == 4


def lose_the_database(*arguments: Any) -> None:
    raise ConversationPersistFailed()
