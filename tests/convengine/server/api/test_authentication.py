"""A key is read for each call, and never used after it was revoked or changed."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext, override_settings
from django.utils import timezone

from convengine.server.admin_site.rights import CONFIG_ADMIN, INTEGRATOR, QA
from convengine.server.api.models import CeApiKey
from convengine.server.database import throttle
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.threads import Participant, travel_desk
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


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


def create_maker(*groups: str) -> User:
    maker = User.objects.create_user("ida", is_staff=True)
    maker.groups.set(Group.objects.filter(name__in=groups))
    return maker


def call(secret: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
    send = getattr(Caller(secret).client, method)
    sent = {} if body is None else {"data": body, "content_type": "application/json"}
    return send(f"/api/v1/{path}", **sent, headers={"Authorization": f"Api-Key {secret}", **headers})


def test_a_key_loses_what_its_maker_may_no_longer_do() -> None:
    create_help_desk()
    maker = create_maker(INTEGRATOR, QA, CONFIG_ADMIN)
    secret = make_key(made_by=maker, scopes=["turns", "audit", "config"])
    reads = ("audit/stages", "config")
    assert [call(secret, "get", path).status_code for path in reads] == [200, 200]

    maker.groups.set(Group.objects.filter(name__in=[INTEGRATOR, QA]))
    assert [call(secret, "get", path).status_code for path in reads] == [200, 403]

    maker.groups.set(Group.objects.filter(name=INTEGRATOR))
    answer = call(secret, "get", "audit/stages")
    assert (answer.status_code, answer.json()["errorCode"]) == (403, "FORBIDDEN")
    assert "or its creator no longer has permission for it" in answer.json()["message"]
    assert call(secret, "post", "conversation/message", {"message": "hours"}).status_code == 200

    maker.groups.clear()
    assert call(secret, "post", "conversation/message", {"message": "hours"}).status_code == 403
    assert CeApiKey.objects.get().scopes == ["turns", "audit", "config"]


def test_a_key_ends_with_the_account_of_its_maker() -> None:
    create_help_desk()
    maker = create_maker(INTEGRATOR)
    secret = make_key(made_by=maker)
    User.objects.update(is_active=False)

    answer = call(secret, "post", "conversation/message", {"message": "hours"})
    assert (answer.status_code, answer.json()["message"]) == (401, "The user who created this API key is not active.")

    maker.delete()
    assert not CeApiKey.objects.exists()
    assert call(secret, "post", "conversation/message", {"message": "hours"}).status_code == 401


@pytest.mark.parametrize("header", ["Api-Key {0}, Api-Key {0}", "Api-Key x.y, Api-Key {0}", "Api-Key {0},Bearer z"])
def test_a_call_with_two_keys_is_refused(caller: Caller, header: str) -> None:
    answer = caller.post({"message": "hours"}, Authorization=header.format(caller.secret))

    assert (answer.status_code, answer.json()["errorCode"]) == (400, "DUPLICATE_CREDENTIALS")


def begin_session(secret: str) -> str:
    body = {"workspace_id": "default", "channel": "sms", "remote_jid": "+49", "user_message": "hours"}
    return str(call(secret, "post", "sessions/message", body).json()["session_id"])


@pytest.mark.parametrize("values", [{"scopes": ["turns", "sessions"]}, {"scopes": ["sessions"], "made_by": INTEGRATOR}])
def test_the_scope_of_sessions_does_not_read_what_others_began(values: dict[str, Any]) -> None:
    create_help_desk()
    first = make_key(scopes=["sessions"])
    session_id = begin_session(first)
    maker = values.get("made_by")
    stranger = make_key(**{**values, "made_by": maker and create_maker(maker)})

    assert call(first, "get", "sessions?workspace_id=default").json()["sessions"]
    assert call(stranger, "get", "sessions?workspace_id=default").json()["sessions"] == []
    for path in ("", "/units", "/explainability", "?include=messages"):
        assert call(first, "get", f"sessions/{session_id}{path}").status_code == 200
        assert call(stranger, "get", f"sessions/{session_id}{path}").status_code == 404
    assert call(stranger, "post", f"sessions/{session_id}/close", {}).status_code == 404
    external = {"user_message": "x", "assistant_response": "y"}
    assert call(stranger, "patch", f"sessions/{session_id}", external).status_code == 404
    assert CeConversation.objects.get().lifecycle == "RUNNING"


def test_a_key_that_goes_on_with_a_session_of_another_sees_nothing_of_before() -> None:
    create_help_desk()
    first = make_key(scopes=["sessions"])
    begin_session(first)
    CeConversation.objects.update(context_summary="SECRET", preferences={"model": "SECRET"})
    body = {"workspace_id": "default", "channel": "sms", "remote_jid": "+49", "user_message": "fees"}
    stranger = make_key(scopes=["sessions"])

    for path in ("sessions/resolve", "sessions/message"):
        answer = call(stranger, "post", path, body)
        assert (answer.status_code, answer.json()["session"]["context_summary"]) == (200, "")
        assert "SECRET" not in answer.content.decode()
        assert answer.json().get("turn", {}).get("context") is None
    assert call(first, "post", "sessions/message", body).json()["turn"]["context"] is not None


def test_the_scope_of_sessions_reads_what_its_maker_may_read() -> None:
    create_help_desk()
    session_id = begin_session(make_key(scopes=["sessions"]))
    maker = create_maker(INTEGRATOR, QA)
    secret = make_key(made_by=maker, scopes=["sessions"])
    assert call(secret, "get", f"sessions/{session_id}").status_code == 200

    maker.groups.set(Group.objects.filter(name=INTEGRATOR))
    assert call(secret, "get", f"sessions/{session_id}").status_code == 404
    assert call(make_key(scopes=["sessions", "audit"]), "get", f"sessions/{session_id}").status_code == 200


def test_wrong_keys_of_an_address_get_slow_and_right_ones_do_not(caller: Caller) -> None:
    right, caller.secret = caller.secret, "wrong.key"
    answers = [caller.post({"message": "hours"}) for _ in range(22)]

    assert [answer.status_code for answer in answers] == [401] * 20 + [429] * 2
    assert (answers[-1].json()["errorCode"], answers[-1].headers["Retry-After"]) == ("THROTTLED", "2")
    caller.secret = right
    assert caller.post({"message": "hours"}).status_code == 200


def test_calls_are_served_while_they_cannot_be_counted(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any) -> Any:
        raise DatabaseError

    monkeypatch.setattr(throttle, "count_call", fail)
    with override_settings(CONVENGINE={"THROTTLE_RATE": "1/min"}):
        assert [caller.post({"message": "hours"}).status_code for _ in range(3)] == [200] * 3


def test_a_turn_by_the_id_of_a_session_shows_no_more_of_earlier_turns_than_its_thread_does() -> None:
    travel_desk()
    guest = Participant()
    first = guest.say("trip 4711")
    secret = make_key(made_by=create_maker(INTEGRATOR), scopes=["turns", "sessions"])
    body = {"conversationId": first["session_id"], "message": "hello"}

    repeated = {"Idempotency-Key": "k-1"}
    answers = [call(secret, "post", "conversation/message", body, **repeated).json() for _ in range(2)]
    assert [(answer["turnNo"], answer["context"]) for answer in answers] == [(2, None), (2, None)]
    own = call(secret, "post", "conversation/message", {"message": "hello"}).json()
    assert own["context"] is not None
    assert "4711" in str(call(guest.secret, "post", "conversation/message?context=all", body).json()["context"])
