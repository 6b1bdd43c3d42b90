"""What a key reads that is not one of quality assurance: its own conversations, without prompts."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.live.asgi import StreamRequest
from audit.live.messages import StreamCursor
from audit.record.prompts import strip_prompts
from convengine.server.admin_site.rights import INTEGRATOR
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.record import add_to_turn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
SECRET = "You are a helper of the desk."


def key(name: str = "test", scopes: tuple[str, ...] = ("turns", "sessions", "own_audit"), **values: Any) -> str:
    return str(CeApiKey.objects.create_key(name=name, scopes=list(scopes), **values)[1])


def add_model_call(caller: Caller) -> None:
    """Let the first turn have asked a model, as far as its record goes."""
    stages = ("PROMPT_RENDERING", "RESOLVE_RESPONSE_LLM_INPUT")
    add_to_turn(caller.conversation_id, 1, *((stage, {"system_prompt": SECRET, "n": 1}) for stage in stages))


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller(key())
    caller.say("hours")
    add_model_call(caller)
    return caller


def read(caller: Caller, secret: str, path: str, **query: Any) -> Any:
    return caller.client.get(
        f"/api/v1/conversation/{path}".replace("ID", caller.conversation_id),
        query,
        headers={"Authorization": f"Api-Key {secret}", "Accept": query.pop("accept", "application/json")},
    )


ADDRESSES = (
    *("audit/ID", "audit/ID?page=off", "audit/ID?compat=1", "audit/ID/trace", "audit/ID/trace?compat=1"),
    "ID/turns/1/trace",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_a_model_was_asked_is_not_shown_but_that_it_was(caller: Caller, address: str) -> None:
    text = read(caller, caller.secret, address).content.decode().replace('\\"', '"')

    assert SECRET not in text
    assert text.count('"redacted":true') >= 2
    assert "RESOLVE_RESPONSE_LLM_INPUT" in text
    assert "Nine to five." in text
    assert SECRET in read(caller, make_key(), address).content.decode()


def test_what_is_masked_cannot_be_searched_either(caller: Caller) -> None:
    assert caller.get(q=SECRET).json()["fields"] == {"q": ["Only for keys with the scope audit."]}
    caller.secret = make_key()
    assert len(caller.get(q=SECRET).json()["results"]) == 2


@pytest.mark.parametrize("address", [*ADDRESSES, "ID", "ID/turns"])
def test_another_s_conversation_of_the_workspace_does_not_exist_for_it(caller: Caller, address: str) -> None:
    answer = read(caller, key("other"), address)

    nothing = {"conversationId": caller.conversation_id, "steps": [], "stages": []}
    if "compat" in address:
        assert answer.json() in ([], nothing)
    else:
        assert (answer.status_code, answer.json()["errorCode"]) == (404, "NOT_FOUND")
    assert read(caller, make_key(), address).status_code == 200


def test_who_goes_on_with_a_conversation_does_not_take_it_over(caller: Caller) -> None:
    first, caller.secret = caller.secret, key("other")

    caller.say("fees")

    assert caller.get().status_code == 404
    caller.secret = first
    assert caller.get(turn=2).json()["results"]


def test_a_key_in_the_place_of_another_reads_what_that_one_began(caller: Caller) -> None:
    ida = User.objects.create_user("ida")
    ida.groups.set(Group.objects.filter(name=INTEGRATOR))
    old, new = key("old", made_by=ida), key("new", made_by=ida)
    caller = Caller(old)
    caller.say("hours")
    CeApiKey.objects.filter(name="old").update(revoked=True)
    caller.secret = new

    assert caller.get().status_code == 200
    caller.secret = key("of nobody")
    assert caller.get().status_code == 404


@pytest.mark.parametrize("path", ["/why", "/account"])
def test_reasons_and_accounts_are_for_who_may_read_everything(caller: Caller, path: str) -> None:
    answer = caller.get(path, turn=1)

    assert (answer.status_code, answer.json()["message"]) == (403, "This API key does not have the scope audit.")


def test_a_key_with_neither_scope_reads_nothing(caller: Caller) -> None:
    caller.secret = key("mute", scopes=("turns",))

    answer = caller.get()

    assert (answer.status_code, answer.json()["errorCode"]) == (403, "FORBIDDEN")


def test_the_scope_of_all_reading_is_not_lessened_by_the_other(caller: Caller) -> None:
    caller.secret = key("both", scopes=("audit", "own_audit"))

    assert SECRET in caller.get().content.decode()


def test_a_session_belongs_to_the_key_that_began_it() -> None:
    create_help_desk()
    secret = key()
    body = {"workspace_id": "default", "channel": "sms", "remote_jid": "+49", "user_message": "hours"}
    caller = Caller(secret)

    def send(by: str) -> None:
        caller.client.post(
            "/api/v1/sessions/message", body, "application/json", headers={"Authorization": f"Api-Key {by}"}
        )

    send(secret)
    send(key("other"))

    row = CeConversation.objects.get()
    assert row.opened_by == secret.partition(".")[0]
    caller.conversation_id = str(row.pk)
    assert caller.get().status_code == 200


def test_a_turn_of_a_conversation_that_there_is_writes_nothing_of_whose_it_is(caller: Caller) -> None:
    with CaptureQueriesContext(connection) as statements:
        caller.say("fees")

    assert not any("opened_by" in one["sql"] for one in statements)


def test_streams_leave_out_the_same() -> None:
    data = json.dumps({"stage": "MCP_PLAN_LLM_INPUT", "payload": {"user_prompt": SECRET, "_meta": {"seq": 3}}})
    other = {"stage": "MCP_PLAN_LLM_OUTPUT", "payload": {"json": "{}"}}
    mine = StreamRequest("c", StreamCursor(0, 0), prompts=False)

    assert json.loads(mine.render(data))["payload"] == {"redacted": True, "_meta": {"seq": 3}}
    assert json.loads(mine.render(json.dumps(other))) == other
    assert StreamRequest("c", StreamCursor(0, 0)).render(data) == data


def test_a_prompt_that_could_not_be_filled_in_is_not_shown_where_that_is_told() -> None:
    meta = {"promptVars": ["a"], "system_prompt": SECRET, "user_prompt": SECRET}
    found = strip_prompts([{"stage": "STEP_ERROR", "payload": {"step": "S", "_errorMeta": meta}}])

    assert found[0]["payload"] == {"step": "S", "_errorMeta": {"promptVars": ["a"]}, "redacted": True}


def test_a_payload_that_names_a_stage_itself_is_left_as_it_is() -> None:
    event = {"stage": "MCP_TOOL_RESULT", "payload": {"rows": [{"stage": "A_LLM_INPUT", "payload": {"x": 1}}]}}

    assert strip_prompts([event]) == [event]
