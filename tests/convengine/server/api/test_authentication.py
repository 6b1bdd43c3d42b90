"""A key is read for each call, and never used after it was revoked or changed."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    made = Caller()
    made.say("hours")
    return made


def change(**values: Any) -> None:
    CeApiKey.objects.update(**values)


def test_a_key_costs_a_turn_one_read(caller: Caller) -> None:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        caller.say("hours")

    about = [query["sql"].split()[0] for query in seen.captured_queries if "ce_api_key" in query["sql"]]
    assert about == ["SELECT"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"revoked": True}, "This API key was revoked."),
        ({"expiry_date": timezone.now() - timedelta(seconds=1)}, "This API key has expired."),
        ({"hashed_key": "sha512$$other"}, "Unknown API key."),
    ],
)
def test_a_key_that_is_valid_no_more_takes_no_turn(caller: Caller, values: dict[str, Any], message: str) -> None:
    change(**values)

    answer = caller.post({"conversationId": caller.conversation_id, "message": "hours"})

    assert (answer.status_code, answer.json()["message"]) == (401, message)
    assert CeConversation.objects.get().last_turn_no == 1


def test_nor_does_it_open_a_conversation_or_learn_what_is_wrong_with_its_request(caller: Caller) -> None:
    change(revoked=True)

    assert caller.post({"message": "hours"}).status_code == 401
    assert caller.post({"message": 17}).status_code == 401
    assert CeConversation.objects.count() == 1


def test_nor_does_it_get_an_answer_that_was_stored(caller: Caller) -> None:
    body = {"conversationId": caller.conversation_id, "message": "hours"}
    assert caller.post(body, **{"Idempotency-Key": "k"}).status_code == 200
    change(revoked=True)

    assert caller.post(body, **{"Idempotency-Key": "k"}).status_code == 401


def test_a_scope_taken_away_counts_at_once(caller: Caller) -> None:
    change(scopes=["audit"])

    answer = caller.post({"conversationId": caller.conversation_id, "message": "hours"})

    assert answer.status_code == 403
    assert CeConversation.objects.get().last_turn_no == 1


def test_a_scope_given_counts_at_once(caller: Caller) -> None:
    change(scopes=["audit"])
    assert caller.post({"message": "hours"}).status_code == 403
    change(scopes=["turns"])

    assert caller.post({"message": "hours"}).status_code == 200


def test_a_key_that_moved_to_another_workspace_opens_its_conversations_there(caller: Caller) -> None:
    change(workspace_id="elsewhere")

    assert caller.post({"conversationId": caller.conversation_id, "message": "hours"}).status_code == 404
    made = caller.post({"message": "hours"}).json()["conversationId"]
    assert CeConversation.objects.get(pk=made).workspace_id == "elsewhere"
