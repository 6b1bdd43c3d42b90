"""A conversation beside a scripted model that answers over HTTP."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.test import override_settings

from convengine.server import wiring
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.connections import read_connections
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.dialogues.play import store_flows
from tests.fakes.openai_server import ModelServer, Says, model_server

#: A Monday.
CLOCK = datetime(2026, 11, 23, 9, tzinfo=UTC)


@contextmanager
def talk_beside_model(
    flow: Mapping[str, Any], *answers: Says | Mapping[str, Any]
) -> Iterator[tuple[Caller, ModelServer]]:
    """A conversation over the flow, and a model that gives these answers in order."""
    store_flows({"time_zone": "Europe/London", "locale": "en-GB", "flows": [flow]})
    says = [answer if isinstance(answer, Says) else Says(json.dumps(answer)) for answer in answers]
    with model_server(*says) as server:
        reached = wiring.make_model_client(read_connections({"desk": {"base_url": server.url, "models": ["small"]}}))
        clock = override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": CLOCK})
        with wiring.replace_outside_world(OutsideWorld(Registry(), reached)), clock:
            yield Caller(), server
        reached.close()


def find_event(caller: Caller, turn: int, stage: str) -> dict[str, Any]:
    """The payload of the event of a stage in a turn."""
    events = caller.get(turn=turn).json()["results"]
    return next(event["payload"] for event in events if event["stage"] == stage)
