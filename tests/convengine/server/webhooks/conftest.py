"""Webhooks of tests, and a receiver on this machine."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from convengine.server.interfaces.configuration import configuration_files
from convengine.server.webhooks.events import EVENTS
from convengine.server.webhooks.models import CeWebhook
from convengine.server.webhooks.send import create_secret
from tests.fakes.http_server import Reply, Server, serving

BUNDLE = Path(__file__).parents[4] / "fixtures/bicycle_workshop.json"
MakeWebhook = Callable[..., CeWebhook]


@pytest.fixture
def workshop(db: None) -> None:
    """The configuration of the bicycle workshop."""
    configuration_files().import_file(BUNDLE)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Server]:
    with serving(Reply()) as server:
        settings.CONVENGINE = {**settings.CONVENGINE, "WEBHOOK_PRIVATE_HOSTS": ["127.0.0.1"]}
        yield server


@pytest.fixture
def make_webhook(db: None) -> MakeWebhook:
    """A webhook of all events, unless its values say otherwise."""

    def make(url: str = "https://hooks.example.com/bot", **values: Any) -> CeWebhook:
        defaults = {"name": f"hook {CeWebhook.objects.count()}", "events": list(EVENTS), "secret": create_secret()}
        return CeWebhook.objects.create(**{**defaults, "url": url, **values})

    return make
