"""A message whose caller does not wait is answered once, in order, and its answer can be read."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued import queue
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.api import Caller, make_key
from tests.live.configuration import configure
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
PREFER = {"Prefer": "respond-async, wait=10"}
MESSAGE = "/api/v1/conversation/message/"


@pytest.fixture
def caller(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Caller:
    """A caller of a server whose jobs run when a test says so."""
    create_help_desk()
    settings.CONVENGINE = {**settings.CONVENGINE, "JOBS_IN_PROCESS": True}
    monkeypatch.setattr(queue.outbox, "wake", lambda: None)
    return Caller()


def send(caller: Caller, text: str, **headers: str) -> Any:
    return caller.post({"conversationId": caller.conversation_id, "message": text}, **PREFER, **headers)


def read(caller: Caller, url: str, query: str = "") -> Any:
    return caller.client.get(url + query, headers={"Authorization": f"Api-Key {caller.secret}"})


def answer_all() -> None:
    list(queue.outbox.send_due())


def test_the_call_is_answered_at_once_and_the_turn_can_be_read_later(caller: Caller) -> None:
    accepted = send(caller, "your hours please")

    assert accepted.status_code == 202
    body = accepted.json()
    url = body["turnUrl"]
    assert (body["status"], body["answer"], body["conversationId"]) == ("WAITING", None, caller.conversation_id)
    assert (accepted.headers["Location"], accepted.headers["Preference-Applied"]) == (url, "respond-async")
    waiting = read(caller, url)
    assert (waiting.json()["status"], waiting.headers["Retry-After"]) == ("WAITING", "1")
    assert CeConversationHistory.objects.count() == 0

    answer_all()

    done = read(caller, url, "?context=none&include=verbose").json()
    assert done["status"] == "ANSWERED"
    assert done["answer"]["payload"] == {"type": "TEXT", "value": "Nine to five."}
    assert (done["answer"]["context"], done["answer"]["verbose"]) == (None, [])


def test_messages_of_a_conversation_are_answered_in_their_order(caller: Caller) -> None:
    other = Caller(secret=caller.secret)
    for text in ("hours", "fees", "hours again"):
        send(caller, text)
        send(other, text)

    answer_all()

    for key in (caller.conversation_id, other.conversation_id):
        turns = CeConversationHistory.objects.filter(conversation_id=key).order_by("turn_no")
        assert [turn.user_input for turn in turns] == ["hours", "fees", "hours again"]


def test_the_same_call_again_is_the_same_message_and_has_one_turn(caller: Caller) -> None:
    first, second = (send(caller, "hours", **{"Idempotency-Key": "k1"}) for _ in range(2))

    answer_all()

    assert first.json()["messageId"] == second.json()["messageId"]
    body = {"conversationId": caller.conversation_id, "message": "hours"}
    for headers in (PREFER, {}):
        again = caller.post(body, **headers, **{"Idempotency-Key": "k1"})
        assert (again.status_code, again.headers["X-Idempotent-Replay"]) == (200, "true")
    assert CeConversationHistory.objects.count() == 1


def test_a_key_that_came_with_another_body_is_refused(caller: Caller) -> None:
    send(caller, "hours", **{"Idempotency-Key": "k1"})

    refused = send(caller, "fees", **{"Idempotency-Key": "k1"})

    assert (refused.status_code, refused.json()["errorCode"]) == (422, "IDEMPOTENCY_KEY_REUSED")


def test_a_process_that_died_behind_the_commit_leaves_one_turn_and_its_answer(caller: Caller) -> None:
    url = send(caller, "hours").json()["turnUrl"]
    answer_all()
    # As if it had died before it stored the answer.
    CeQueuedMessage.objects.update(
        status=OutboxStatus.PENDING, answer=None, next_attempt_at=database_time() - timedelta(seconds=1)
    )

    answer_all()

    assert read(caller, url).json()["answer"]["payload"]["value"] == "Nine to five."
    assert CeConversationHistory.objects.count() == 1


def test_a_message_that_can_have_no_turn_fails_with_the_reason(caller: Caller) -> None:
    configure("Session/ALLOW_CLIENT_CONVERSATION_IDS", "false")
    url = send(caller, "hours").json()["turnUrl"]

    answer_all()

    failed = read(caller, url).json()
    assert (failed["status"], failed["answer"]["errorCode"]) == ("FAILED", "NOT_FOUND")
    assert failed["answer"]["success"] is False


def test_a_passing_fault_is_tried_again(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from convengine.engine.errors import ConversationPersistFailed

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise ConversationPersistFailed

    url = send(caller, "hours").json()["turnUrl"]
    with monkeypatch.context() as broken:
        broken.setattr(queue, "take_turn", fail)
        answer_all()
    assert (read(caller, url).json()["status"], CeQueuedMessage.objects.get().attempts) == ("WAITING", 1)
    CeQueuedMessage.objects.update(next_attempt_at=F("created_at"))

    answer_all()

    assert read(caller, url).json()["status"] == "ANSWERED"


def test_webhooks_learn_of_each_answer_once_and_in_order(caller: Caller) -> None:
    CeWebhook.objects.create(name="desk", url="https://desk.example.com", events=["turn.answered"], secret="whsec_x")
    ids = [send(caller, text).json()["messageId"] for text in ("hours", "fees")]

    answer_all()

    events = [json.loads(row.body) for row in CeWebhookDelivery.objects.order_by("pk")]
    assert [event["data"]["messageId"] for event in events] == ids
    assert [event["data"]["reply"] for event in events] == ["Nine to five.", "No fees."]
    assert {event["type"] for event in events} == {"turn.answered"}
    assert "context" not in events[0]["data"]["answer"]


def test_where_no_jobs_run_the_turn_is_waited_for(caller: Caller, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "JOBS_IN_PROCESS": False}

    answer = send(caller, "hours")

    assert (answer.status_code, answer.json()["payload"]["value"]) == (200, "Nine to five.")
    assert "Preference-Applied" not in answer.headers


def test_a_second_message_is_refused_where_the_workspace_says_so(caller: Caller) -> None:
    configure("Session/ON_CONCURRENT_TURN", "reject")
    send(caller, "hours")

    refused = send(caller, "fees")

    assert (refused.status_code, refused.json()["errorCode"]) == (409, "TURN_IN_PROGRESS")


def test_a_newer_message_interrupts_the_running_one_where_the_workspace_says_so(caller: Caller) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    send(caller, "hours")
    assert [row.request["message"] for row in queue.select_next()] == ["hours"]
    send(caller, "fees")
    assert [row.request["message"] for row in queue.select_next()] == ["hours"]

    CeQueuedMessage.objects.filter(request__message="hours").update(attempts=1)

    assert [row.request["message"] for row in queue.select_next().order_by("pk")] == ["hours", "fees"]


def send_of_thread(caller: Caller, sender: str, text: str) -> Any:
    body = {"workspace_id": "default", "channel": "shop", "remote_jid": sender, "user_message": text}
    return caller.client.post(
        "/api/v1/sessions/message",
        body,
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}", **PREFER},
    )


def test_messages_of_a_thread_find_their_session_when_they_are_answered(caller: Caller) -> None:
    accepted = [
        send_of_thread(caller, sender, text) for text in ("hours", "fees", "start over") for sender in ("ann", "ben")
    ]
    assert {answer.status_code for answer in accepted} == {202}
    first = accepted[0].json()
    assert (first["conversationId"], first["turnUrl"].rpartition("/")[0]) == (None, "/api/v1/sessions/message")

    answer_all()

    done = read(caller, first["turnUrl"], "?context=none").json()
    assert (done["status"], done["answer"]["reply"], done["answer"]["reason"]) == (
        "ANSWERED",
        "Nine to five.",
        "first_message",
    )
    assert done["conversationId"] == done["answer"]["session_id"]
    for sender in ("ann", "ben"):
        sessions = CeConversation.objects.filter(remote_jid=sender).order_by("created_at")
        turns = CeConversationHistory.objects.filter(conversation__in=sessions).order_by("pk")
        assert [turn.user_input for turn in turns] == ["hours", "fees", "start over"]
        assert len(sessions) == 3, "Another wish and a wish to start over begin sessions."
    assert read(caller, first["turnUrl"].replace("sessions", "conversation")).status_code == 404


def test_another_key_reads_nothing(caller: Caller) -> None:
    url = send(caller, "hours").json()["turnUrl"]

    assert read(Caller(secret=make_key()), url).status_code == 404
    assert read(caller, f"{MESSAGE}{uuid.uuid4()}").status_code == 404


def test_an_answer_is_removed_with_the_stored_answers(caller: Caller) -> None:
    send(caller, "hours")
    send(caller, "fees")
    answer_all()
    CeQueuedMessage.objects.filter(request__message="hours").update(created_at=database_time() - timedelta(hours=25))

    list(queue.JOB.work())

    assert [row.request["message"] for row in CeQueuedMessage.objects.all()] == ["fees"]


def test_the_background_of_a_server_answers(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue.outbox, "wake", queue.outbox.wake_here)

    url = send(caller, "hours").json()["turnUrl"]

    wait_until(lambda: read(caller, url).json()["status"] == "ANSWERED")
    queue.outbox._background.finish()


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
