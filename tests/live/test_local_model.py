"""A real small model on this machine, served by `manage.py local_model`, writes an answer (the extra `local-llm`)."""

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from audit.models import CeLlmCallLog
from audit.replay.replay import find_replay_difference
from convengine.server import wiring
from convengine.server.model_clients.connections import read_connections
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.live.configuration import configure
from tests.live.processes import ROOT, free_port, start
from tests.live.written import written_desk

pytestmark = [pytest.mark.extra("local-llm"), pytest.mark.long]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    # Two threads wait for each other by spinning, beside other tests for most of their time.
    command = [sys.executable, str(ROOT / "manage.py"), "local_model", "--port", str(port), "--threads", "1"]
    server = start(command, port, {**os.environ, "CE_DEBUG": "true"})
    deadline = time.monotonic() + 60
    # It answers before the model is loaded; then it says so.
    while "/v1" not in server.text():
        assert server.process.poll() is None, server.text()
        assert time.monotonic() < deadline, server.text()
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/v1"
    server.end()


@pytest.mark.django_db(transaction=True)
def test_a_derived_answer_comes_from_a_real_model(address: str) -> None:
    written_desk()
    # On a busy machine it takes many times as long as alone.
    for name, value in (("TIMEOUT_SECONDS", 100), ("MAX_MS_PER_TURN", 100_000), ("TEMPERATURE", 0)):
        configure(f"LLM/{name}", value)
    # Such a small model seldom stops by itself, and an answer that is cut off is refused.
    sentence = 'root ::= [^.\\n]{8,80} "."'
    words = _say(address, "fees", {"grammar": sentence})
    document = _say(address, "hours", {"max_tokens": 60})

    told = list(CeLlmCallLog.objects.values_list("purpose", "response_text", "error_message"))
    assert words["success"], told
    assert words["payload"]["type"] == "TEXT"
    assert len(words["payload"]["value"]) > 3
    assert document["success"], told
    assert isinstance(document["payload"]["value"]["opens"], int)
    calls = CeLlmCallLog.objects.filter(success=True)
    assert {call.model for call in calls} == {"local"}
    assert all(call.output_tokens for call in calls)
    assert [find_replay_difference(turn) for turn in CeConversationHistory.objects.all()] == [None, None]


def _say(address: str, text: str, body: dict[str, Any]) -> dict[str, Any]:
    """Say a text to the model of this machine, which gets these settings in each call."""
    model = wiring.make_model_client(
        read_connections({"here": {"base_url": address, "models": ["local"], "body": body}})
    )
    with wiring.replace_outside_world(OutsideWorld(model=model)):
        answer = Caller().say(text)
    model.close()
    return answer
