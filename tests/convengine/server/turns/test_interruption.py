"""Turns that newer messages stop. What a second message meets, policy by policy, is in `rows`."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from config_admin.models import CeResponse, CeRule
from convengine.engine.errors import ConvEngineError
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeTurnTicket
from convengine.server.turns.dead_turns import recover_expired_lease
from convengine.server.turns.interruption import InterruptionCheck, interrupt_running_turn, is_interrupted
from tests.api import Caller
from tests.convengine.server.turns.test_take_turn import hold_lease, say
from tests.convengine.server.turns.test_waiting import in_the_middle_of_a_turn
from tests.threads import Participant, later, row_of, setting, travel_desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    return Participant()


def meanwhile(monkeypatch: pytest.MonkeyPatch, call: Callable[[], Any], until: Callable[[], bool]) -> list[Any]:
    """In the middle of the next turn, call in another thread, and go on when `until` holds; gives thread and answer."""
    answers: list[Any] = []

    def speak() -> None:
        try:
            answers.append(call())
        except ConvEngineError as error:
            answers.append(error)
        connection.close()

    thread = threading.Thread(target=speak)

    def begin() -> None:
        thread.start()
        deadline = time.monotonic() + 20
        while not until() and time.monotonic() < deadline:
            time.sleep(0.01)
        # Longer than a turn rests between two looks.
        time.sleep(0.15)

    in_the_middle_of_a_turn(monkeypatch, begin)
    answers.append(thread)
    return answers


def moves_of(answer: Any, turn_no: int) -> list[str]:
    events = CeAudit.objects.filter(conversation_id=answer["session_id"], turn_no=turn_no, stage="SESSION_LIFECYCLE")
    return [f"{event.payload_json['from']}>{event.payload_json['to']}" for event in events.order_by("seq")]


def is_marked() -> bool:
    return CeConversation.objects.filter(lease_interrupted_by__isnull=False).exists()


def test_interrupt_is_told_in_the_trail_of_the_turn_that_it_stopped(
    guest: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    guest.say("a visa")
    other = Participant(guest.secret, guest.remote_jid)
    answers = meanwhile(monkeypatch, lambda: other.say("a trip?"), is_marked)

    stopped = guest.say("Japan")
    answers[0].join()

    assert guest.moves(stopped) == ["RUNNING>INTERRUPTED"]
    assert guest.stages(stopped, "ENGINE_KNOWN_FAILURE")[0]["errorCode"] == "TURN_INTERRUPTED"
    assert not guest.stages(stopped, "ENGINE_RETURN")


def test_interrupt_works_on_the_plain_turn_api(guest: Participant, monkeypatch: pytest.MonkeyPatch) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    caller = Caller(guest.secret)
    caller.say("a visa")
    again = Caller(guest.secret, caller.conversation_id)
    answers = meanwhile(monkeypatch, lambda: again.say("hours"), is_marked)

    response = caller.post({"conversationId": caller.conversation_id, "message": "Japan"})
    answers[0].join()

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_INTERRUPTED")
    assert (answers[1]["turnNo"], answers[1]["payload"]["value"]) == (3, "Nine to five.")


def test_a_quick_turn_that_was_interrupted_finds_out_at_its_commit(
    guest: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    guest.say("a visa")
    monkeypatch.setattr("convengine.server.turns.interruption._PAUSE", 60)
    other = Participant(guest.secret, guest.remote_jid)
    answers = meanwhile(monkeypatch, lambda: other.say("a trip?"), is_marked)

    response = guest.call("post", "/message", {**guest.thread, "user_message": "Japan"})
    answers[0].join()

    assert (response.status_code, response.json()["errorCode"]) == (409, "TURN_INTERRUPTED")
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.replayable) == ("INTERRUPTED", False)
    assert answers[1]["turn"]["turnNo"] == 3


def test_a_dead_turn_is_buried_and_frees_the_mark(guest: Participant, settings: Any) -> None:
    first = guest.say("a visa")
    hold_lease(first["session_id"], 60)
    assert interrupt_running_turn(first["session_id"], "00000000-0000-0000-0000-000000000001", "a trip")
    later(settings, 120.0)

    assert recover_expired_lease(first["session_id"])

    row = row_of(first)
    assert (row.lifecycle, row.lease_interrupted_by, row.lease_token) == ("INTERRUPTED", None, None)
    assert row.turns.get(turn_no=2).error_code == "LEASE_EXPIRED"
    assert moves_of(first, 2) == ["RUNNING>INTERRUPTED"]


def test_a_turn_that_fails_of_something_else_tells_that_it_was_interrupted(
    guest: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    setting("ON_CONCURRENT_TURN", "interrupt")
    first = guest.say("a visa")
    monkeypatch.setattr("convengine.server.turns.interruption._PAUSE", 60)
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION",
        intent_code="VISA",
        state_code="ANY",
        rule_type="EXACT",
        match_pattern="ANY",
        action="SET_STATE",
        action_value="NOWHERE",
    )
    CeResponse.objects.filter(intent_code="VISA").update(state_code="IDLE")
    other = Participant(guest.secret, guest.remote_jid)
    answers = meanwhile(monkeypatch, lambda: other.say("a trip?"), is_marked)

    assert guest.say("Japan")["errorCode"] == "RESPONSE_MAPPING_NOT_FOUND"
    answers[0].join()

    assert (moves_of(first, 2), moves_of(first, 3)[:1]) == (["RUNNING>INTERRUPTED"], ["INTERRUPTED>RUNNING"])


def test_a_turn_is_marked_once_and_carries_both_messages(guest: Participant) -> None:
    first = guest.say("a visa")
    hold_lease(first["session_id"], 60)
    token = str(row_of(first).lease_token)

    assert interrupt_running_turn(first["session_id"], "00000000-0000-0000-0000-000000000001", "a trip")
    assert not interrupt_running_turn(first["session_id"], "00000000-0000-0000-0000-000000000002", "hours")

    row = row_of(first)
    assert (row.lifecycle, row.lifecycle_detail["user_message"], row.lifecycle_detail["turn_no"]) == (
        "INTERRUPTED",
        "a trip",
        2,
    )
    assert is_interrupted(token)


def test_without_a_turn_there_is_nothing_to_interrupt(guest: Participant) -> None:
    first = guest.say("a visa")

    assert not interrupt_running_turn(first["session_id"], "00000000-0000-0000-0000-000000000001", "a trip")
    assert row_of(first).lifecycle == "AWAITING_USER"


def test_a_turn_looks_only_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr("convengine.server.turns.interruption.is_interrupted", lambda token: bool(looks.append(token)))
    watch = InterruptionCheck("token")

    for pause, seen in ((60, []), (0, ["token"]), (60, ["token"])):
        monkeypatch.setattr("convengine.server.turns.interruption._PAUSE", pause)
        assert not watch()
        assert looks == seen


def test_messages_that_waited_while_their_session_ended_go_on_in_the_next(
    guest: Participant, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = guest.say("a trip")
    other = Participant(guest.secret, guest.remote_jid)
    answers = meanwhile(monkeypatch, lambda: other.say("hours"), CeTurnTicket.objects.exists)

    confirmed = guest.say("looks good")
    answers[0].join()

    assert confirmed["session"]["lifecycle"] == "COMPLETE"
    assert (answers[1]["reason"], answers[1]["turn"]["turnNo"]) == ("session_closed", 1)
    assert answers[1]["session"]["previous_session_id"] == first["session_id"]


@pytest.mark.parametrize("policy", ["wait", "interrupt", "reject"])
@pytest.mark.parametrize(("text", "sessions"), [("reset", 2), ("looks good", 1)])
def test_a_call_that_is_repeated_while_it_runs_waits_for_its_answer_and_ends_and_begins_no_session(
    guest: Participant, monkeypatch: pytest.MonkeyPatch, text: str, sessions: int, policy: str
) -> None:
    setting("ON_CONCURRENT_TURN", policy)
    guest.say("a trip")
    body, key = {**guest.thread, "user_message": text}, {"Idempotency-Key": "once"}
    other = Participant(guest.secret, guest.remote_jid)
    again = meanwhile(monkeypatch, lambda: other.call("post", "/message", body, **key), CeTurnTicket.objects.exists)

    first = guest.call("post", "/message", body, **key)
    again[0].join()

    assert (again[1].headers["X-Idempotent-Replay"], again[1].json()) == ("true", first.json())
    assert CeConversation.objects.count() == sessions


def test_a_plain_turn_is_taken_as_before(guest: Participant) -> None:
    assert say("5f3c0a52-0000-4000-8000-000000000001", "hours").turn_no == 1
