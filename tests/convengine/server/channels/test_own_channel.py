"""The channel of docs/channels.md that a deployment adds: it is run as it is printed."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from convengine.server.channels.contract import Provider, sign
from convengine.server.channels.models import CeChannelMessage
from convengine.server.extensions.registry import Registry
from convengine.server.jobs.outbox import OutboxStatus
from tests.convengine.server.channels.conftest import World, make_world
from tests.fakes import channel_providers
from tests.fakes.channel_providers import Request, Shown
from tests.fakes.http_server import Asked, Reply

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = Path(__file__).resolve().parents[4] / "docs/channels.md"
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


class Gateway(channel_providers.Provider):
    """The gateway that the page describes."""

    kind = "sms"
    secrets = {"key": "k3y", "signing_key": "signing key"}

    @property
    def settings(self) -> dict[str, str]:
        return {"url": self.server.address}

    def write(self, sender: str, text: str | None, number: int | None = None, **more: Any) -> Request:
        name = f"in-{number or next(self.numbers)}"
        return self.sign({"id": name, "from": sender, "text": text or "", "sent_at": time.time(), **more})

    def sign(self, value: dict[str, Any]) -> Request:
        body = json.dumps(value).encode()
        return Request(body, {"X-Signature": sign(self.secrets["signing_key"], body)})

    def choose(self, sender: str, label: str) -> Request:
        return self.write(sender, label)

    def read(self, asked: Asked) -> Shown | None:
        assert (asked.path, asked.headers["authorization"]) == ("/messages", "Bearer k3y")
        body = json.loads(asked.body)
        return Shown(body["to"], body["text"])

    def take(self, name: str) -> Reply:
        return Reply(201, json.dumps({"id": name}).encode())


@pytest.fixture
def gateway(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    registry = Registry()
    monkeypatch.setattr("convengine.server.extensions.registry.registry", registry)
    monkeypatch.setattr("convengine.server.channels.providers.registry", registry)
    exec(compile(EXAMPLE, "docs/channels.md", "exec"), {"__name__": "own"})
    yield from make_world(Gateway, settings, monkeypatch)


def test_the_example_is_as_short_as_the_page_says() -> None:
    assert len(EXAMPLE.splitlines()) <= 40
    assert "## Your own channel in 40 lines" in PAGE.read_text()


def test_it_answers_what_users_write(gateway: World) -> None:
    for _ in range(2):
        gateway.write("4915112345", "hours", number=1)
    gateway.write("4915112345", "a pizza please")

    assert gateway.provider.list_texts("4915112345")[0] == "Nine to five."
    assert len(gateway.provider.shown) == 2


def test_it_refuses_what_the_gateway_did_not_sign(gateway: World) -> None:
    answer = gateway.post(gateway.provider.write("4915112345", "hours"), **{"X-Signature": "forged"})

    assert (answer.status_code, answer.json()["errorCode"]) == (403, "REQUEST_REFUSED")
    assert "X-Signature" in answer.json()["message"]


@pytest.mark.parametrize(
    ("status", "left"), [(429, OutboxStatus.PENDING), (503, OutboxStatus.PENDING), (400, OutboxStatus.FAILED)]
)
def test_it_says_what_is_worth_another_attempt(status: int, left: OutboxStatus, gateway: World) -> None:
    gateway.provider.faults = [Reply(status)]
    gateway.write("4915112345", "hours")

    message = CeChannelMessage.objects.get()
    assert (message.status, message.error) == (left, f"The gateway answered {status}.")


def test_it_stores_receipts(gateway: World) -> None:
    gateway.write("4915112345", "hours")
    (shown,) = gateway.provider.shown
    provider: Any = gateway.provider

    gateway.post(provider.sign({"id": shown.name, "state": "delivered"}))

    assert CeChannelMessage.objects.get().receipt == "delivered"


def test_a_setting_adds_it_too(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from convengine.server.channels.providers import list_providers
    from convengine.server.deployment import conf

    monkeypatch.setattr("convengine.server.channels.providers.registry", Registry())
    settings.CONVENGINE = {
        **settings.CONVENGINE,
        "CHANNEL_PROVIDERS": [*conf.get("CHANNEL_PROVIDERS"), f"{__name__}.Own"],
    }

    assert list(list_providers()) == ["telegram", "whatsapp", "slack", "own"]


class Own(Provider):
    name, title = "own", "Our own"

    def receive(self, request: Any, secrets: Any, settings: Any) -> Any: ...

    def write(self, text: str, options: Any, form: Any) -> Any: ...

    def build_call(self, message: Any, recipient: str, secrets: Any, settings: Any) -> Any: ...

    def read_result(self, status: int, body: Any, retry_after: int) -> Any: ...
