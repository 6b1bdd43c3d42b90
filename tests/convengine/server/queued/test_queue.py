"""A message whose caller does not wait is answered once, in order, and its answer can be read."""

import json
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from convengine.engine.errors import ConvEngineError, ConversationPersistFailed, TurnConflict
from convengine.engine.pipeline.engine import Engine
from convengine.server.api.models import CeApiKey
from convengine.server.database.sql import database_time
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued import answer, queue
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
    monkeypatch.setattr(answer.outbox, "wake", lambda: None)
    return Caller()


def send(caller: Caller, text: str, **headers: str) -> Any:
    return caller.post({"conversationId": caller.conversation_id, "message": text}, **PREFER, **headers)


def read(caller: Caller, url: str, query: str = "") -> Any:
    return caller.client.get(url + query, headers={"Authorization": f"Api-Key {caller.secret}"})


def answer_all() -> None:
    list(answer.outbox.send_due())


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
    url = send(caller, "hours").json()["turnUrl"]
    with monkeypatch.context() as broken:
        broken.setattr(answer, "take_turn", fail_for_now)
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


def list_turns(caller: Caller) -> list[tuple[str, str]]:
    turns = CeConversationHistory.objects.filter(conversation_id=caller.conversation_id).order_by("turn_no")
    return [(turn.user_input, turn.status) for turn in turns]


def test_a_newer_message_takes_the_place_of_those_that_wait_where_the_workspace_says_so(caller: Caller) -> None:
    configure("Session/ON_CONCURRENT_TURN", "interrupt")
    urls = [send(caller, text).json()["turnUrl"] for text in ("hours", "fees", "hours again")]

    answer_all()

    answers = [read(caller, url).json() for url in urls]
    assert [each["status"] for each in answers] == ["FAILED", "FAILED", "ANSWERED"]
    assert answers[0]["answer"]["errorCode"] == "TURN_INTERRUPTED"
    assert list_turns(caller) == [("hours again", "OK")]


def test_a_message_that_is_tried_again_keeps_its_place(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    send(caller, "hours")
    with monkeypatch.context() as broken:
        broken.setattr(answer, "take_turn", fail_for_now)
        answer_all()
    send(caller, "fees")
    answer_all()
    assert list_turns(caller) == []
    CeQueuedMessage.objects.update(next_attempt_at=F("created_at"))

    answer_all()

    assert list_turns(caller) == [("hours", "OK"), ("fees", "OK")]


def fail_for_now(*args: Any, **kwargs: Any) -> Any:
    raise ConversationPersistFailed


class LlmTimeout(ConvEngineError):
    """The model took too long."""

    code, status, recoverable = "LLM_TIMEOUT", 504, True


def test_a_turn_that_failed_for_now_is_tried_again_and_tells_its_error_at_the_end(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def time_out(*args: Any) -> Any:
        raise LlmTimeout

    url, thread_url = send(caller, "hours").json()["turnUrl"], send_of_thread(caller, "ann", "hours").json()["turnUrl"]
    monkeypatch.setattr(Engine, "_run_step", time_out)
    answer_all()
    assert {read(caller, each).json()["status"] for each in (url, thread_url)} == {"WAITING"}
    CeQueuedMessage.objects.update(attempts=7, next_attempt_at=F("created_at"))
    answer_all()

    failed, of_thread = read(caller, url).json(), read(caller, thread_url).json()
    assert (failed["status"], failed["answer"]["errorCode"], failed["answer"]["turnNo"]) == ("FAILED", "LLM_TIMEOUT", 2)
    assert (of_thread["status"], of_thread["answer"]["ok"], of_thread["answer"]["errorCode"]) == (
        "FAILED",
        False,
        "LLM_TIMEOUT",
    )


def test_a_message_whose_process_lost_its_place_is_answered_by_the_next_one(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose_place(*args: Any, **kwargs: Any) -> Any:
        raise TurnConflict

    url = send(caller, "hours").json()["turnUrl"]
    with monkeypatch.context() as slow:
        slow.setattr(answer, "take_turn", lose_place)
        answer_all()
    CeQueuedMessage.objects.update(next_attempt_at=F("created_at"))
    answer_all()

    assert read(caller, url).json()["status"] == "ANSWERED"


def test_a_failed_message_is_tried_anew_when_it_is_sent_again(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug")

    CeWebhook.objects.create(name="desk", url="https://desk.example.com", events=["turn.answered"], secret="whsec_x")
    url = send(caller, "hours", **{"Idempotency-Key": "k1"}).json()["turnUrl"]
    CeQueuedMessage.objects.update(attempts=7)
    with monkeypatch.context() as broken:
        broken.setattr(answer, "take_turn", break_down)
        answer_all()
    CeApiKey.objects.update(scopes=["turns", "audit"])
    assert read(caller, url, "?include=trace").status_code == 200
    assert read(caller, url).json()["answer"]["errorCode"] == "INTERNAL_ERROR"
    assert "Retry-After" not in read(caller, url).headers
    assert CeWebhookDelivery.objects.count() == 1

    send(caller, "hours", **{"Idempotency-Key": "k1"})
    answer_all()

    assert read(caller, url).json()["status"] == "ANSWERED"


def test_a_key_of_a_waiting_message_is_not_taken_for_another_one(caller: Caller) -> None:
    url = send(caller, "hours", **{"Idempotency-Key": "k1"}).json()["turnUrl"]

    refused = caller.post({"conversationId": caller.conversation_id, "message": "fees"}, **{"Idempotency-Key": "k1"})
    answer_all()

    assert refused.status_code == 422
    assert read(caller, url).json()["status"] == "ANSWERED"


def test_a_message_to_a_conversation_of_another_workspace_holds_up_nothing_and_is_told_to_nobody(
    caller: Caller,
) -> None:
    caller.say("hours")
    for name in ("default", "shop"):
        CeWebhook.objects.create(
            name=name, url="https://d.example.com", events=["turn.answered"], secret="whsec_x", workspace_id=name
        )
    stranger = Caller(secret=make_key("shop"), conversation_id=caller.conversation_id)
    url = send(stranger, "hi").json()["turnUrl"]
    send(caller, "fees")
    assert answer.select_next().count() == 2

    answer_all()

    assert read(stranger, url).json()["answer"]["errorCode"] == "NOT_FOUND"
    told = {row.webhook.workspace_id: json.loads(row.body)["data"] for row in CeWebhookDelivery.objects.all()}
    assert (told["default"]["success"], told["shop"]["success"]) == (True, False)
    assert told["shop"]["workspace"] == "shop"
    assert told["shop"]["intent"] == "UNKNOWN"


def test_a_running_turn_of_a_thread_refuses_a_message_where_the_workspace_says_so(caller: Caller) -> None:
    configure("Session/ON_CONCURRENT_TURN", "reject")
    send_of_thread(caller, "ann", "hours")
    answer_all()
    CeConversation.objects.update(lease_token=uuid.uuid4(), lease_expires_at=database_time() + timedelta(seconds=60))

    assert send_of_thread(caller, "ann", "fees").status_code == 409


def test_too_many_waiting_messages_are_refused(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "_MOST_WAITING", 2)
    assert [send(caller, "hours").status_code for _ in range(3)] == [202, 202, 503]


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
    CeQueuedMessage.objects.filter(request__message="hours").update(sent_at=database_time() - timedelta(hours=25))

    list(answer.JOB.work())

    assert [row.request["message"] for row in CeQueuedMessage.objects.all()] == ["fees"]


def test_the_background_of_a_server_answers(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer.outbox, "wake", answer.outbox.wake_here)

    url = send(caller, "hours").json()["turnUrl"]

    wait_until(lambda: read(caller, url).json()["status"] == "ANSWERED")
    answer.outbox._background.finish()


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
