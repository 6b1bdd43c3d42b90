"""Sessions 11, line by line: what wipes a conversation, and what does not."""

from collections.abc import Mapping
from typing import Any

import pytest

from convengine.server.sessions.models import CeSessionUnit
from tests.api import Caller
from tests.convengine.server.threads.rows.stories import BEGINNING, Story, payloads, row_behind
from tests.threads import setting

#: Texts in the body, and the reason that the trail gives.
TRIGGERS: list[Any] = [
    pytest.param({"message": "hello", "reset": True}, "INPUT_PARAM:reset", id="S11-reset-1-body"),
    *(
        pytest.param(
            {"message": "hello", "inputParams": {name: value}}, f"INPUT_PARAM:{name}", id=f"S11-reset-2-{name}-{value}"
        )
        for name in ("reset", "restart", "conversation_reset")
        for value in (True, "true", "1", "yes", "y", "YES")
    ),
    *(
        pytest.param({"message": text}, "USER_TEXT_COMMAND", id=f"S11-reset-3-{text}")
        for text in ("reset", "restart", "/reset", "/restart", " ReSet ")
    ),
    pytest.param(
        {"message": BEGINNING, "inputParams": {"switch_intent": True}}, "INTENT_RESOLVED_RESET", id="S11-reset-4-intent"
    ),
]
#: What there is to be wiped.
BEFORE = {"form": ("a visa, ann@example.com",), "action": ("a refund",), "question": ("a visa for the trip",)}


def stand(caller: Caller, before: str) -> None:
    for text in BEFORE[before]:
        caller.say(text, inputParams={"tier": "gold"})
    row = row_behind(caller)
    assert row.input_params_json["tier"] == "gold"
    if before == "form":
        assert row.context_json["intent_lock"] == {"locked": True, "reason": "SCHEMA_INCOMPLETE"}
        assert (row.context_json["email"], CeSessionUnit.objects.count()) == ("ann@example.com", 1)
    if before == "question":
        assert row.context_json["pending_clarification"]["question"]


@pytest.mark.parametrize(("body", "reason"), TRIGGERS)
def test_every_trigger_does_the_same_full_wipe(caller: Caller, body: Mapping[str, Any], reason: str) -> None:
    stand(caller, "form")

    check_reset(caller, body, reason)


@pytest.mark.parametrize("before", ["action", "question"])
@pytest.mark.parametrize(("body", "reason"), [TRIGGERS[0], TRIGGERS[1], TRIGGERS[19], TRIGGERS[-1]])
def test_whatever_is_open_is_gone(caller: Caller, body: Mapping[str, Any], reason: str, before: str) -> None:
    stand(caller, before)
    if before == "action":
        caller.say("what is that?")
        assert row_behind(caller).context_json["pending_action_runtime"]["status"] == "OPEN"

    check_reset(caller, body, reason)


def check_reset(caller: Caller, body: Mapping[str, Any], reason: str) -> None:
    answer = caller.post({"conversationId": caller.conversation_id, **body}).json()

    row = row_behind(caller)
    assert (row.intent_code, row.state_code, row.status) == ("UNKNOWN", "UNKNOWN", "RUNNING")
    # What the turn itself puts there, and nothing of before.
    assert set(row.context_json) - {"mcp"} == {"memory", "pending_clarification", "intent_lock"}
    assert row.context_json["intent_lock"] == {"locked": False, "reason": None}
    assert row.context_json["pending_clarification"] == {"question": None, "reason": None}
    assert "tier" not in row.input_params_json
    assert not CeSessionUnit.objects.exists()
    assert (row.context_epoch, row.last_assistant_json) == (1, answer["payload"])
    assert (row.lifecycle, answer["stateReport"]["missingFields"], answer["stateReport"]["pendingAction"]) == (
        "RUNNING",
        [],
        None,
    )
    (event,) = payloads(caller, "CONVERSATION_RESET", answer["turnNo"])
    assert (event["reason"], event["intent"], event["context"]) == (reason, "UNKNOWN", {})
    assert row.turns.get(turn_no=row.last_turn_no).context_epoch == 1


@pytest.mark.parametrize(
    "body",
    [
        *(
            pytest.param({"message": "hello", "inputParams": {"reset": value}}, id=f"S11-reset-2-not-{value}")
            for value in (False, "no", "maybe", "0", "")
        ),
        pytest.param({"message": "hello", "reset": False}, id="S11-reset-1-not-false"),
        pytest.param({"message": "reset my password"}, id="S11-reset-3-not-inside-a-text"),
        pytest.param({"message": "how do I restart"}, id="S11-reset-3-not-at-the-end"),
    ],
)
def test_what_is_no_trigger_wipes_nothing(caller: Caller, body: Mapping[str, Any]) -> None:
    stand(caller, "form")

    answer = caller.post({"conversationId": caller.conversation_id, **body}).json()

    row = row_behind(caller)
    assert (row.intent_code, row.context_epoch, row.context_json["email"]) == ("VISA", 0, "ann@example.com")
    assert not payloads(caller, "CONVERSATION_RESET", answer["turnNo"])


def test_S11_reset_4_not_an_intent_that_is_not_in_the_setting(caller: Caller) -> None:
    setting("ResetResolvedIntentStep/RESET_INTENT_CODES", "RESET_SESSION")
    caller.say("hours")

    caller.say(BEGINNING)

    assert row_behind(caller).context_epoch == 0


@pytest.mark.parametrize("text", ["reset", "restart", "/reset", "/restart"])
def test_S11_reset_3_on_a_thread_opens_a_new_session(caller: Caller, story: Story, text: str) -> None:
    answer = story.play("a visa, ann@example.com", text)

    assert (answer["reason"], answer["session_id"] != story.session_id) == ("explicit_reset", True)
    assert (story.row.lifecycle, story.row.context_epoch, story.row.intent_code) == ("ABORTED", 0, "VISA")
    assert CeSessionUnit.objects.get().conversation_id == story.row.pk


@pytest.mark.parametrize(
    ("message", "params"),
    [
        pytest.param("hello", {"reset": True}, id="S11-reset-2-on-a-thread"),
        pytest.param(BEGINNING, {"switch_intent": True}, id="S11-reset-4-on-a-thread"),
    ],
)
def test_any_other_trigger_wipes_the_session_of_a_thread_in_place(
    caller: Caller, story: Story, message: str, params: Mapping[str, Any]
) -> None:
    story.play("a visa, ann@example.com")

    answer = story.guest.say(message, input_params=params)

    assert (answer["reason"], answer["session_id"]) == ("within_timeout", story.session_id)
    row = story.row
    assert (row.intent_code, row.context_epoch, row.lifecycle) == ("UNKNOWN", 1, "RUNNING")
    assert "email" not in row.context_json
    assert not CeSessionUnit.objects.exists()
