"""The bridge in `fixtures/chatwoot`, a process of its own, between a server and one that speaks Chatwoot's API."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from config_admin.models import CeConfig
from config_admin.releases.change_set import change_set
from convengine.server.deployment.folders import find_shipped
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.webhooks.send import send_deliveries
from tests.api import make_key
from tests.convengine.server.webhooks.conftest import MakeWebhook
from tests.fakes.http_server import Reply, Server, serving
from tests.live.processes import ROOT, answers, free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
#: Chatwoot's number of the conversation.
NUMBER = 7


@pytest.fixture
def chatwoot() -> Iterator[Server]:
    """A server that takes the calls of Chatwoot's API, and notes them."""
    with serving(Reply()) as server:
        yield server


def list_told(chatwoot: Server) -> list[tuple[str, dict[str, Any]]]:
    """What Chatwoot was told about the conversation, by the bot."""
    assert {asked.headers["api_access_token"] for asked in chatwoot.asked} == {"bot-token"}
    prefix = f"/api/v1/accounts/1/conversations/{NUMBER}/"
    return [(asked.path.removeprefix(prefix), json.loads(asked.body)) for asked in chatwoot.asked]


@pytest.fixture
def bridge(
    live_server: Any, chatwoot: Server, make_webhook: MakeWebhook, settings: Any
) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Send an event of Chatwoot to the bridge."""
    settings.CONVENGINE = {**settings.CONVENGINE, "WEBHOOK_PRIVATE_HOSTS": ["127.0.0.1"]}
    port = free_port()
    hook = make_webhook(url=f"http://127.0.0.1:{port}/convengine", events=["conversation.handed_over"])
    environment = {
        "CONVENGINE_URL": live_server.url,
        "CONVENGINE_KEY": make_key(scopes=["sessions"]),
        "CONVENGINE_WEBHOOK_SECRET": hook.secret,
        "CHATWOOT_URL": chatwoot.address,
        "CHATWOOT_ACCOUNT": "1",
        "CHATWOOT_TOKEN": "bot-token",
    }
    command = [sys.executable, str(find_shipped("fixtures") / "chatwoot" / "bridge.py"), str(port)]
    process = subprocess.Popen(command, env={**os.environ, **environment, "PYTHONPATH": str(ROOT)})
    while not answers(port):
        assert process.poll() is None
        time.sleep(0.05)

    def send(event: dict[str, Any]) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/chatwoot", json.dumps(event), {"Content-Type": "application/json"})
        assert connection.getresponse().status == 204

    yield send
    process.terminate()
    process.wait(10)


def write(number: int, text: str, kind: str = "incoming", **sender: Any) -> dict[str, Any]:
    return {
        "event": "message_created",
        "id": number,
        "content": text,
        "message_type": kind,
        "private": False,
        "sender": sender or {"id": 3, "name": "Cem"},
        "conversation": {"id": NUMBER, "status": "pending"},
        "account": {"id": 1, "name": "Workshop"},
    }


@pytest.mark.usefixtures("workshop")
def test_the_bot_answers_in_chatwoot_until_an_agent_does_and_again_afterwards(
    bridge: Callable[[dict[str, Any]], None], chatwoot: Server
) -> None:
    with change_set():
        CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
    for number, text in enumerate(("sell my bicycle", "x", "y", "z"), start=1):
        bridge(write(number, text))
    list(send_deliveries())
    told = list_told(chatwoot)
    answered = [body["content"] for what, body in told if what == "messages"]
    assert (len(answered), answered[-1]) == (4, "One moment, a mechanic takes over.")
    assert told[-1] == ("toggle_status", {"status": "open"})

    agent = write(5, "Hello, I am Ada.", "outgoing", id=2, name="Ada", type="user")
    bridge(agent)
    bridge(agent)
    # What the bot itself wrote comes back, too.
    bridge(write(6, answered[-1], "outgoing", id=1, name="Bot", type="agent_bot"))
    bridge(write(7, "It is red"))
    bridge({"event": "conversation_resolved", "id": NUMBER, "timestamp": 1_800_000_000, "status": "resolved"})
    bridge(write(8, "sell my bicycle"))

    turns = CeConversationHistory.objects.order_by("turn_no").values_list("user_input", "source")
    assert list(turns)[4:] == [
        (None, "EXTERNAL"),
        ("It is red", "TURN"),
        (None, "EXTERNAL"),
        ("sell my bicycle", "TURN"),
    ]
    assert list_told(chatwoot)[-1][1]["content"] == answered[0]
