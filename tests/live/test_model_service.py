"""A conversation over HTTP with a model service that misbehaves: the answer, the call log, and the replay."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from audit.models import CeLlmCallLog
from audit.replay.replay import find_replay_difference
from convengine.server import wiring
from convengine.server.model_clients.connections import read_connections
from convengine.server.model_clients.openai_model import MAX_BYTES
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.fakes.openai_server import ModelServer, Says, model_server
from tests.live.configuration import configure
from tests.live.written import written_desk

pytestmark = pytest.mark.django_db(transaction=True)
OK, FAILED, SLOW = None, "LLM_CALL_FAILED", "LLM_TIMEOUT"
GOOD = '{"opens": 9}'


@contextmanager
def service(*says: Says) -> Iterator[ModelServer]:
    with model_server(*says) as server:
        found = read_connections({"desk": {"base_url": server.url, "models": ["small"], "prices": {"small": [1, 2]}}})
        model = wiring.make_model_client(found)
        with wiring.replace_outside_world(OutsideWorld(model=model)):
            yield server
        model.close()


def list_logged_attempts() -> Sequence[tuple[int, str | None]]:
    """Attempt and code of each row of the log, in order."""
    rows = CeLlmCallLog.objects.order_by("llm_call_id").values_list("attempt", "error_message")
    return [(attempt, message and message.partition(":")[0]) for attempt, message in rows]


def test_an_answer_in_words_and_one_as_a_document() -> None:
    written_desk()
    with service(Says("No fees."), Says(GOOD)):
        caller = Caller()
        words, document = caller.say("fees"), caller.say("hours")

    assert words["payload"] == {"type": "TEXT", "value": "No fees."}
    assert document["payload"] == {"type": "JSON", "value": {"opens": 9}}
    assert list_logged_attempts() == [(1, OK), (1, OK)]
    row = CeLlmCallLog.objects.earliest("llm_call_id")
    assert (row.input_tokens, row.output_tokens, float(row.cost)) == (12, 5, 0.000022)


CASES: dict[str, tuple[str, Sequence[Says], str | None, Sequence[str | None]]] = {
    "slow": ("fees", [Says(seconds=3)], SLOW, [SLOW, SLOW]),
    "slow_once": ("fees", [Says(seconds=3), Says("ok")], OK, [SLOW, OK]),
    "429": ("fees", [Says("busy", 429)], FAILED, [FAILED, FAILED]),
    "429_once": ("fees", [Says("busy", 429), Says("ok")], OK, [FAILED, OK]),
    "500": ("fees", [Says("broken", 500)], FAILED, [FAILED, FAILED]),
    "401": ("fees", [Says("who?", 401)], FAILED, [FAILED]),
    "hangs_up": ("fees", [Says(hangs_up=True)], FAILED, [FAILED, FAILED]),
    "broken_protocol": ("fees", [Says(raw=b'{"choi')], "LLM_INVALID_RESPONSE", ["LLM_INVALID_RESPONSE"]),
    "10_MB": ("fees", [Says("x" * MAX_BYTES)], "LLM_INVALID_RESPONSE", ["LLM_INVALID_RESPONSE"]),
    "empty": ("fees", [Says("")], "LLM_EMPTY_RESPONSE", ["LLM_EMPTY_RESPONSE"]),
    "empty_json": ("hours", [Says("")], "LLM_EMPTY_RESPONSE", ["LLM_EMPTY_RESPONSE"]),
    "broken_json": ("hours", [Says("sorry")], "LLM_INVALID_RESPONSE", ["LLM_INVALID_RESPONSE"] * 2),
    "truncated_json": ("hours", [Says('{"opens": ')], "LLM_INVALID_RESPONSE", ["LLM_INVALID_RESPONSE"] * 2),
    "truncated_once": ("hours", [Says('{"opens": '), Says(GOOD)], OK, ["LLM_INVALID_RESPONSE", OK]),
    "wrong_schema": ("hours", [Says('{"opens": "late"}')], "LLM_SCHEMA_VIOLATION", ["LLM_SCHEMA_VIOLATION"] * 2),
    "wrong_once": ("hours", [Says("{}"), Says(GOOD)], OK, ["LLM_SCHEMA_VIOLATION", OK]),
    "broken_then_out": (
        "hours",
        [Says("sorry"), Says("busy", 503)],
        "LLM_INVALID_RESPONSE",
        ["LLM_INVALID_RESPONSE", FAILED, FAILED],
    ),
}
STATUS = {SLOW: 504}


@pytest.mark.parametrize("case", CASES)
def test_a_service_that_misbehaves_gives_the_specified_answer_and_leaves_every_try_in_the_log(case: str) -> None:
    text, says, code, tries = CASES[case]
    written_desk()
    configure("LLM/TIMEOUT_SECONDS", 1 if case.startswith("slow") else 15)
    with service(*says):
        caller = Caller()
        response = caller.post({"conversationId": caller.conversation_id, "message": text})

    body: dict[str, Any] = response.json()
    if code is OK:
        assert (response.status_code, body["success"]) == (200, True)
    else:
        assert (response.status_code, body["errorCode"]) == (STATUS.get(code, 502), code)
        assert body["recoverable"] is (code in (FAILED, SLOW))
        assert "127.0.0.1" not in response.content.decode()
    assert list_logged_attempts() == list(enumerate(tries, start=1))
    # Nobody is asked now: what the service said, and how it failed, is in the recording.
    assert find_replay_difference(CeConversationHistory.objects.get()) is None


def test_a_row_with_a_text_of_its_own_answers_when_the_model_is_out() -> None:
    written_desk(exact_text="Please call us.")
    with service(Says("broken", 500)):
        answer = Caller().say("fees")

    assert answer["payload"] == {"type": "TEXT", "value": "Please call us."}
    assert list_logged_attempts() == [(1, FAILED), (2, FAILED)]


def test_what_a_conversation_may_cost_is_counted_over_its_turns() -> None:
    written_desk()
    configure("LLM/MAX_COST_PER_CONVERSATION", "0.00004")
    with service(Says("ok")) as server:
        caller = Caller()
        answers = [caller.say("fees") for _ in range(3)]

    assert [answer["errorCode"] for answer in answers] == [None, None, "LLM_BUDGET_EXCEEDED"]
    assert len(server.requests) == 2
    assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.order_by("turn_no")] == [None] * 3
