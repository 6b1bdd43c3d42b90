"""Who may watch, and what of it: keys that read everything, and keys that read their own."""

from typing import Any

import pytest
from django.core.handlers.asgi import ASGIRequest
from rest_framework.exceptions import PermissionDenied

from audit.live.asgi import StreamRequest, admit
from convengine.engine.errors import ConversationNotFound
from convengine.server.api.conversation_token import ConversationToken
from convengine.server.api.models import CeApiKey
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller(make_key(scopes=["turns", "own_audit"]))
    caller.say("hours")
    return caller


def admit_watcher(caller: Caller, secret: str) -> StreamRequest:
    headers = [(b"authorization", f"Api-Key {secret}".encode()), (b"host", b"testserver")]
    headers.append((b"origin", b"https://shop.example.com"))
    scope: Any = {"type": "http", "method": "GET", "path": "/", "query_string": b"after=0.0", "headers": headers}
    return admit(ASGIRequest(scope, None), caller.conversation_id)  # type: ignore[arg-type]


def test_a_key_watches_its_own_conversations_without_prompts(caller: Caller) -> None:
    assert not admit_watcher(caller, caller.secret).prompts
    assert admit_watcher(caller, make_key()).prompts


def test_another_s_conversation_is_not_there_to_be_watched(caller: Caller) -> None:
    with pytest.raises(ConversationNotFound):
        admit_watcher(caller, make_key(scopes=["own_audit"]))
    with pytest.raises(PermissionDenied, match="does not have the scope audit or own_audit"):
        admit_watcher(caller, make_key(scopes=["turns"]))


def test_a_conversation_token_watches_nothing(caller: Caller) -> None:
    prefix = make_key(scopes=["turns", "audit"]).partition(".")[0]
    token = ConversationToken(caller.conversation_id, prefix, "https://shop.example.com").sign()

    with pytest.raises(PermissionDenied):
        admit_watcher(caller, token)


def test_a_key_that_is_to_see_less_from_now_on_has_to_come_again(caller: Caller) -> None:
    CeApiKey.objects.update(scopes=["audit", "own_audit"])
    admitted = admit_watcher(caller, caller.secret)
    assert admitted.find_refusal() == ""

    CeApiKey.objects.update(scopes=["own_audit"])

    assert admitted.find_refusal() == "FORBIDDEN"
    assert not admit_watcher(caller, caller.secret).prompts
