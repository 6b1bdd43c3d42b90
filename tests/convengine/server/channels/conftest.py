"""Channels of the three providers, whose servers are scripted."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from config_admin.models import CeIntent
from config_admin.releases.change_set import change_set
from convengine.server.channels import receive, send
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.executors.http_client import circuits
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued import answer
from tests.fakes.channel_providers import PROVIDERS, Provider, Request, Slack, Telegram, WhatsApp
from tests.fakes.http_server import serving
from tests.worlds import create_help_desk, create_pizza_form


class World:
    """A channel with its provider. The jobs of the server run when a test says so."""

    def __init__(self, provider: Provider, channel: CeChannel) -> None:
        self.provider, self.channel = provider, channel

    def post(self, request: Request, **headers: str) -> Any:
        """What the server answers to a request of the provider."""
        return Client().post(
            f"/channels/{self.channel.name}/",
            request.body,
            content_type=request.content_type,
            headers={**request.headers, **headers},
        )

    def work(self) -> None:
        """Take all turns, and send all answers that are due."""
        while True:
            list(answer.outbox.send_due())
            list(send.outbox.send_due())
            due = send.select_next().filter(attempts=0)
            if not due.exists():
                return

    def write(self, sender: str, text: str | None, **more: Any) -> None:
        """A message of a user, and all that follows."""
        assert self.post(self.provider.write(sender, text, **more)).status_code == 200
        self.work()


@pytest.fixture(params=PROVIDERS, ids=[kind.kind for kind in PROVIDERS])
def world(request: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    yield from make_world(request.param, settings, monkeypatch)


@pytest.fixture
def telegram(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    yield from make_world(Telegram, settings, monkeypatch)


@pytest.fixture
def whatsapp(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    yield from make_world(WhatsApp, settings, monkeypatch)


@pytest.fixture
def slack(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    yield from make_world(Slack, settings, monkeypatch)


def make_world(kind: type[Provider], settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    create_help_desk()
    create_pizza_form()
    with change_set(reason="questions in between"):
        CeIntent.objects.filter(intent_code="HOURS").update(returns=True)
    circuits._all.clear()
    send._next_at.clear()
    monkeypatch.setattr(kind_of(kind), "per_second", 1000)
    monkeypatch.setattr(receive, "_FURTHER_MEDIA", timedelta())
    for outbox in (answer.outbox, send.outbox):
        monkeypatch.setattr(outbox, "wake", lambda: None)
    with serving() as server:
        provider = kind(server)
        names = {name: f"SHOP_{name.upper()}" for name in kind.secrets}
        settings.CONVENGINE = {
            **settings.CONVENGINE,
            "CHANNEL_SECRETS": {names[name]: value for name, value in kind.secrets.items()},
            "CHANNEL_HOSTS": ["127.0.0.1"],
        }
        channel = CeChannel.objects.create(name="shop", provider=kind.kind, secrets=names, settings=provider.settings)
        yield World(provider, channel)


def kind_of(kind: type[Provider]) -> Any:
    from convengine.server.channels.providers import list_providers

    return type(list_providers()[kind.kind])


def list_waiting() -> list[CeChannelMessage]:
    return list(CeChannelMessage.objects.filter(status=OutboxStatus.PENDING))
