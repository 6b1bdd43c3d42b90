"""All events of a conversation as lines."""

import json
from typing import Any

import pytest

from audit.record import queries
from audit.timeline import event_views as views
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.record import add_outside, add_to_turn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller()
    for text in ("hours", "fees", "hours"):
        caller.say(text)
    return caller


def answer(caller: Caller, **query: Any) -> Any:
    return caller.client.get(
        f"/api/v1/conversation/audit/{caller.conversation_id}",
        query,
        headers={"Authorization": f"Api-Key {caller.secret}", "Accept": "application/x-ndjson"},
    )


def lines(caller: Caller, **query: Any) -> list[Any]:
    sent = answer(caller, **query)
    assert (sent.status_code, sent["Content-Type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in sent.getvalue().decode().splitlines()]


def pages(caller: Caller, **query: Any) -> list[Any]:
    return list(caller.get(page="off", **query).json())


def test_lines_are_what_pages_hold(caller: Caller) -> None:
    found = lines(caller)

    assert found == pages(caller)
    assert {event["turnNo"] for event in found} == {1, 2, 3}


@pytest.mark.parametrize(
    "query",
    [
        {"turn": 2},
        {"stage": "USER_INPUT"},
        {"stage": ["*RESPONSE*", "ENGINE_RETURN"]},
        {"stage": "RULE_NO_MATCH"},
        {"stage": "*_match*"},
        {"step": "RulesStep"},
        {"step": ["RulesStep", "MemoryStep"], "turn": 1},
        {"q": "fees"},
        {"to": "2001-01-01"},
        {"from": "2001-01-01", "stage": "STEP_*"},
    ],
)
def test_filters_do_what_they_do_to_pages(caller: Caller, query: dict[str, Any]) -> None:
    assert lines(caller, **query) == pages(caller, **query)


def test_events_outside_of_turns_come_last_unless_one_turn_is_wanted(caller: Caller) -> None:
    add_outside(CeConversation.objects.get(), "MCP_USER_FEEDBACK", {})

    assert [(one["stage"], one["turnNo"]) for one in lines(caller)][-1] == ("MCP_USER_FEEDBACK", None)
    assert [one["stage"] for one in lines(caller, stage="MCP_*FEEDBACK")] == ["MCP_USER_FEEDBACK"]
    assert None not in {one["turnNo"] for one in lines(caller, turn=1)}
    assert None not in {one["turnNo"] for one in lines(caller, step="RulesStep")}


def test_meta_is_shown_in_full_on_demand(caller: Caller) -> None:
    (short,) = lines(caller, turn=1, stage="RESOLVE_RESPONSE")
    (full,) = lines(caller, turn=1, stage="RESOLVE_RESPONSE", expand="meta")

    assert "session" not in short["payload"]["_meta"]
    assert full["payload"]["_meta"]["session"]["intent"] == "HOURS"


def test_some_events_are_read_at_a_time_and_sent_before_the_next(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, read = pages(caller), queries.read_page
    asked: list[Any] = []

    def count_reads(*given: Any, **place: Any) -> Any:
        asked.append(place)
        return read(*given, **place)

    monkeypatch.setattr(views, "PAGE_SIZE", 70)
    monkeypatch.setattr(queries, "read_page", count_reads)

    sent = iter(answer(caller).streaming_content)
    found = [next(sent)]
    before = len(asked)
    found += sent

    assert before == 1
    assert len(asked) == -(-len(expected) // 70)
    assert [json.loads(one) for one in found] == expected


def test_what_is_refused_is_refused_in_json(caller: Caller) -> None:
    refused = answer(caller, cursor="a1.1")
    caller.conversation_id = "00000000-0000-0000-0000-000000000000"
    unknown = answer(caller)

    assert (refused.status_code, unknown.status_code) == (400, 404)
    assert json.loads(refused.content)["fields"] == {"cursor": ["Lines have no pages. Leave the cursor out."]}
    assert json.loads(unknown.content)["errorCode"] == "NOT_FOUND"


def test_a_key_of_its_own_conversations_gets_no_prompts(caller: Caller) -> None:
    CeApiKey.objects.update(scopes=["turns", "own_audit"])
    last = CeConversationHistory.objects.order_by("turn_no").last()
    assert last
    add_to_turn(caller.conversation_id, last.turn_no, ("MEMORY_LLM_INPUT", {"user_prompt": "the secret words"}))

    assert "the secret words" not in answer(caller).getvalue().decode()
    assert lines(caller)[-1]["payload"]["redacted"] is True
