"""No column of any table keeps what must not be stored, wherever a caller puts it."""

import uuid
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from config_admin.models import CeConfig, CeOutputSchema
from convengine.server.memory.compaction import compact_ended_sessions
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.stored_recording import read_recording
from tests.api import Caller
from tests.threads import Participant
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
#: Found by the pattern, as text, number, part of a name.
NUMBER = 4111111111111111
CARD = "4111 1111 1111 1111"
PIN = 73519
#: Found by the name that it stands under.
WORD = "hunter2-swordfish"
_SECRETS = (str(NUMBER), CARD, WORD, str(PIN))
#: Later turns need what these columns hold; pages and the API show it masked.
_WORKING_MEMORY = {("ce_conversation", "context_json"), ("ce_conversation", "input_params_json")}
PARAMS: dict[str, Any] = {
    "card": CARD,
    "number": NUMBER,
    "fraction": float(NUMBER),
    "pin": PIN,
    f"card-{NUMBER}": "value",
    "password": WORD,
    "nested": {"Password": WORD, CARD: 1, "list": [{CARD: CARD, "pin": PIN, "token": {"a": WORD}}, [NUMBER]]},
    "resolved_user_input": CARD,
    "order": {"password": [WORD], "cards": {CARD: 1, f"{CARD} ": 2}},
}


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()
    CeOutputSchema.objects.create(
        intent_code="FEES",
        state_code="ANY",
        json_schema={"type": "object", "properties": {"password": {"type": "string"}, "card": {"type": "string"}}},
    )
    patterns = "\\b(?:\\d[ -]?){15}\\d\\b\n7[3]519"
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value=patterns)


def _list_leaks() -> Iterator[str]:
    for model in apps.get_models(include_auto_created=True):
        table = model._meta.db_table
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                for name, value in zip(names, row, strict=True):
                    if (table, name) not in _WORKING_MEMORY and (table, name) != ("ce_config", "config_value"):
                        text = _read_text(table, name, value)
                        yield from (f"{table}.{name}: {secret} in {text}" for secret in _SECRETS if secret in text)


def _read_text(table: str, name: str, value: Any) -> str:
    if not isinstance(value, (bytes, memoryview)):
        return str(value)
    if (table, name) == ("ce_conversation_history", "recording"):
        return str(read_recording(value))
    try:
        return zlib.decompress(bytes(value)).decode("utf-8", "replace")
    except zlib.error:
        return bytes(value).decode("utf-8", "replace")


def test_a_turn_stores_no_secret_wherever_the_message_carries_it() -> None:
    caller = Caller()
    caller.say(f"hours, my card is {CARD} or {NUMBER}", inputParams=PARAMS)
    caller.say(f"fees for {CARD}", inputParams={**PARAMS, "context": {"card": CARD}})
    caller.say(f"the cvv of {CARD}", inputParams=PARAMS)
    caller.say(None, inputParams={"reset": True, **PARAMS})

    assert CeConversationHistory.objects.count() == 4
    assert list(_list_leaks()) == []


def test_a_session_stores_no_secret_from_its_first_message_to_its_end() -> None:
    guest = Participant()
    session_id = guest.resolve(f"hours {CARD}")["session_id"]
    body = {**guest.thread, "user_message": f"fees {CARD}", "input_params": PARAMS}
    assert guest.call("post", "/message", body).status_code == 200
    external = {"user_message": CARD, "assistant_response": f"Paid with {CARD}.", "action_type": f"paid {CARD}"}
    assert guest.call("patch", f"/{session_id}", external).status_code == 200
    CeConversation.objects.update(context_summary=f"GOAL: {CARD}\nENTITIES: password={WORD}\nDECISIONS: none")
    assert guest.call("post", f"/{session_id}/close", {"reason": f"paid with {CARD}"}).status_code == 200
    CeConversation.objects.filter(pk=session_id).update(context_summary="")
    compact_ended_sessions()

    assert CeConversation.objects.get(pk=session_id).lifecycle_detail["reason"] == "paid with ***"
    assert list(_list_leaks()) == []


def test_feedback_and_the_access_log_store_no_secret(client: Client) -> None:
    caller = Caller()
    turn = caller.say("hours")
    for message_id in (turn["turnId"], CARD):
        body = {
            "conversationId": caller.conversation_id,
            "feedbackType": "THUMBS_DOWN",
            "messageId": message_id,
            "assistantResponse": f"It is {CARD}.",
            "comment": f"I said {CARD}",
            "correction": f"It is {NUMBER}",
            "metadata": PARAMS,
        }
        headers = {"Authorization": f"Api-Key {caller.secret}", "X-ConvEngine-Compat": "1"}
        response = caller.client.post(
            "/api/v1/conversation/feedback", body, content_type="application/json", headers=headers
        )
        assert response.status_code == 200, response.content
    client.force_login(User.objects.create_superuser("ada"))
    assert client.get(reverse("admin:audit_ceaudit_find"), {"text": CARD}).status_code == 200

    assert list(_list_leaks()) == []


def test_two_masked_names_stay_two_and_a_turn_is_told_with_them() -> None:
    caller = Caller()
    caller.say("hours", inputParams={"cards": {f"{CARD}": 1, f"{NUMBER}": 2}})

    recording = CeConversationHistory.objects.get().recording
    assert recording
    assert read_recording(recording).request.input_params == {"cards": {"***": 1, "*** 2": 2}}
    assert uuid.UUID(caller.conversation_id)
