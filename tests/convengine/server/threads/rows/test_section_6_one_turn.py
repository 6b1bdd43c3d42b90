"""Sessions 6, row by row: what a second message meets while a turn runs. Races over processes are in `tests/live`."""

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from config_admin.models import CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.sessions.models import (
    CeConversation,
    CeConversationHistory,
    CePendingActionExecution,
    CeTurnTicket,
)
from tests.api import Caller
from tests.convengine.server.threads.rows.stories import Story
from tests.convengine.server.turns.test_take_turn import hold_lease
from tests.convengine.server.turns.test_waiting import in_the_middle_of_a_turn
from tests.threads import Participant, row_of, setting

FOR_REAL = pytest.mark.django_db(transaction=True)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Second(threading.Thread):
    """A second message, said in a thread of its own."""

    def __init__(self, call: Callable[[], Any]) -> None:
        super().__init__()
        self._call = call
        self.answer: Any = None

    def run(self) -> None:
        self.answer = self._call()
        connection.close()


def another(guest: Participant) -> Participant:
    """The same participant, with a connection of their own."""
    return Participant(guest.secret, guest.remote_jid)


def post(guest: Participant, text: str) -> Any:
    return guest.call("post", "/message", {**guest.thread, "user_message": text})


@FOR_REAL
def test_S6_wait_is_the_default_and_the_second_message_runs_after_the_first(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    story.play("a visa")
    second = Second(lambda: another(story.guest).say("hours?"))

    def begin() -> None:
        second.start()
        until(CeTurnTicket.objects.exists)

    in_the_middle_of_a_turn(monkeypatch, begin)
    first = story.play("Japan")
    second.join()

    assert (first["turn"]["turnNo"], second.answer["turn"]["turnNo"]) == (2, 3)
    assert (first["ok"], second.answer["ok"]) == (True, True)
    assert not CeTurnTicket.objects.exists()


def test_S6_wait_is_over_after_LEASE_WAIT_SECONDS(story: Story) -> None:
    setting("LEASE_WAIT_SECONDS", "1")
    story.play("a visa")
    hold_lease(story.session_id, 60)
    began = time.monotonic()

    response = post(story.guest, "Japan")

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_IN_PROGRESS")
    assert int(response.headers["Retry-After"]) > 0
    assert 0.9 < time.monotonic() - began < 30
    assert story.row.turns.count() == 1


@pytest.mark.parametrize("key", ["ON_CONCURRENT_TURN", "ON_CONCURRENT_TURN.default"])
def test_S6_reject_is_at_once_and_may_be_that_of_a_workspace(story: Story, key: str) -> None:
    setting(key, "reject")
    setting("LEASE_WAIT_SECONDS", "60")
    story.play("a visa")
    hold_lease(story.session_id, 60)
    began = time.monotonic()

    response = post(story.guest, "Japan")

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_IN_PROGRESS")
    assert time.monotonic() - began < 30


@FOR_REAL
def test_S6_interrupt_stops_the_running_turn_and_the_second_message_runs(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    story.play("a visa")
    before = CeConversation.objects.values("context_json", "intent_code", "last_user_text", "version").get()
    second = Second(lambda: another(story.guest).say("no, a trip?"))

    def begin() -> None:
        second.start()
        until(lambda: CeConversation.objects.filter(lease_interrupted_by__isnull=False).exists())
        # Longer than a turn rests between two looks.
        time.sleep(0.15)
        marked = CeConversation.objects.values("context_json", "intent_code", "last_user_text", "version").get()
        assert (marked, story.row.lifecycle) == (before, "INTERRUPTED")

    in_the_middle_of_a_turn(monkeypatch, begin)
    response = post(story.guest, "Japan")
    second.join()

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_INTERRUPTED")
    stopped = CeConversationHistory.objects.get(turn_no=2)
    assert (stopped.status, stopped.error_code, stopped.user_input) == ("INTERRUPTED", "TURN_INTERRUPTED", "Japan")
    stages = list(CeAudit.objects.filter(turn_no=2).order_by("seq").values_list("stage", flat=True))
    # It had come as far as the rules, and went no further than the end of that step.
    assert "ENGINE_RETURN" not in stages
    assert "ASSISTANT_OUTPUT" not in stages
    assert (second.answer["ok"], second.answer["turn"]["turnNo"]) == (True, 3)
    assert story.row.turns.get(turn_no=3).facts["interrupted_user_message"] == "Japan"
    assert story.guest.moves(second.answer)[0] == "INTERRUPTED>RUNNING"
    assert (story.row.turn_count, story.row.last_turn_no) == (2, 3)


@FOR_REAL
def test_S6_interrupt_never_stops_an_action_that_executes(story: Story) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    story.play("a refund")
    second = Second(lambda: another(story.guest).say("hours?"))

    def pay(call: Any) -> str:
        second.start()
        until(CeTurnTicket.objects.exists)
        time.sleep(0.3)
        return "paid"

    registry = Registry()
    registry.add_task("refunds", TaskEntry({"pay": pay}))
    with wiring.replace_outside_world(wiring.OutsideWorld(registry=registry)):
        answer = story.play("yes")
    second.join()

    assert (answer["ok"], answer["turn"]["turnNo"]) == (True, 2)
    assert (CePendingActionExecution.objects.get().status, story.row.turns.get(turn_no=2).status) == ("EXECUTED", "OK")
    assert second.answer["ok"]
    assert "INTERRUPTED" not in CeConversationHistory.objects.values_list("status", flat=True)


@pytest.mark.parametrize("policy", ["wait", "reject", "interrupt"])
def test_S6_a_turn_that_lost_its_lease_commits_nothing(
    story: Story, monkeypatch: pytest.MonkeyPatch, policy: str
) -> None:
    setting("ON_CONCURRENT_TURN", policy)
    story.play("a visa")
    taken = uuid.uuid4()
    in_the_middle_of_a_turn(monkeypatch, lambda: CeConversation.objects.update(lease_token=taken) and None)

    response = post(story.guest, "Japan")

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_CONFLICT")
    row = story.row
    assert (row.lease_token, row.turn_count, row.last_user_text) == (taken, 1, "a visa")
    assert list(row.turns.values_list("turn_no", flat=True)) == [1]
    assert not CeAudit.objects.filter(turn_no=2).exists()


class Looking(ScriptedModel):
    """A model that notes whether a transaction is open while it is called."""

    def complete(self, request: LlmRequest) -> LlmAnswer:
        held.append(("model", connection.in_atomic_block))
        return super().complete(request)


held: list[tuple[str, bool]] = []


@FOR_REAL
def test_S6_no_transaction_is_open_while_a_model_or_a_task_is_called(guest: Participant) -> None:
    held.clear()
    setting("CLASSIFY_WITH_LLM", "true")
    setting("ENABLE_DRIFT_CLASSIFIER", "true")
    CeResponse.objects.filter(intent_code="UNKNOWN").update(exact_text="Sorry?")
    registry = Registry()
    registry.add_task("refunds", TaskEntry({"pay": lambda call: held.append(("task", connection.in_atomic_block))}))
    caller, lines = Caller(guest.secret), [ScriptLine(("DRIFT",), "{}"), ScriptLine(("DIALOGUE_ACT",), "{}")]

    with wiring.replace_outside_world(wiring.OutsideWorld(model=Looking(lines), registry=registry)):
        caller.say("a refund")
        caller.say("yes")
        guest.say("a trip")
        guest.say("bananas")

    assert {what for what, _ in held} == {"model", "task"}
    assert not any(open_ for _, open_ in held)
    assert row_of(guest.resolve()).lease_token is None
