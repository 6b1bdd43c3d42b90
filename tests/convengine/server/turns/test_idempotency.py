from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from config_admin.models import CeResponse
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeIdempotency
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller()


def send(caller: Caller, text: str = "hours", key: str = "k-1", **body: Any) -> Any:
    return caller.post({"conversationId": caller.conversation_id, "message": text, **body}, **{"Idempotency-Key": key})


def test_a_retry_gets_the_first_answer_and_runs_nothing(caller: Caller) -> None:
    first, second = send(caller), send(caller)

    assert second.json() == first.json()
    assert second.headers["X-Idempotent-Replay"] == "true"
    assert "X-Idempotent-Replay" not in first.headers
    assert CeConversationHistory.objects.count() == 1
    assert CeConversation.objects.get().last_turn_no == 1


def test_the_spacing_of_the_body_does_not_matter(caller: Caller) -> None:
    send(caller, inputParams={"a": 1, "b": 2})

    assert "X-Idempotent-Replay" in send(caller, inputParams={"b": 2, "a": 1}).headers


@pytest.mark.parametrize("body", [{"inputParams": None}, {"reset": None}, {"preferences": None, "inputParams": None}])
def test_null_is_the_same_as_leaving_a_field_out(caller: Caller, body: dict[str, Any]) -> None:
    send(caller)

    assert "X-Idempotent-Replay" in send(caller, **body).headers


@pytest.mark.parametrize("key", ["k-1", "5d3c8f7e-1a2b-4c3d-8e9f-0a1b2c3d4e5f", "order 7", "a:b;c", "7"])
def test_a_key_in_quotes_is_the_bare_one(caller: Caller, key: str) -> None:
    send(caller, key=key)

    assert "X-Idempotent-Replay" in send(caller, key=f'"{key}"').headers


@pytest.mark.parametrize("key", ['""', "k" * 129, '"' + "k" * 129 + '"'])
def test_a_key_without_a_text_or_with_too_long_a_one_is_refused(caller: Caller, key: str) -> None:
    assert send(caller, key=key).status_code == 400


def test_another_body_under_the_same_key_is_refused(caller: Caller) -> None:
    send(caller)

    response = send(caller, "fees")

    assert (response.status_code, response.json()["errorCode"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert CeConversationHistory.objects.count() == 1


def test_a_retry_without_an_id_meets_the_conversation_of_the_first_call(caller: Caller) -> None:
    first = caller.post({"message": "hours"}, **{"Idempotency-Key": "k"})
    second = caller.post({"message": "hours"}, **{"Idempotency-Key": "k"})

    assert second.json()["conversationId"] == first.json()["conversationId"]
    assert CeConversation.objects.count() == 1


def test_keys_of_two_callers_never_meet(caller: Caller) -> None:
    send(caller)
    other = Caller(make_key())

    assert "X-Idempotent-Replay" not in send(other).headers


def test_a_failed_turn_frees_its_key(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").update(enabled=False)
    failed = send(caller)
    CeResponse.objects.filter(intent_code="HOURS").update(enabled=True)

    retried = send(caller)

    assert failed.status_code == 500
    assert retried.json()["success"] is True
    assert "X-Idempotent-Replay" not in retried.headers


def test_a_stored_answer_lives_for_a_day(caller: Caller) -> None:
    send(caller)
    CeIdempotency.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    response = send(caller)

    assert "X-Idempotent-Replay" not in response.headers
    assert response.json()["turnNo"] == 2
    assert CeIdempotency.objects.get().expires_at > timezone.now() + timedelta(hours=23)


@pytest.mark.parametrize("key", ["", "x" * 129])
def test_a_key_of_the_wrong_length_is_refused(caller: Caller, key: str) -> None:
    response = send(caller, key=key)

    assert (response.status_code, list(response.json()["fields"])) == (400, ["Idempotency-Key"])
