"""The help desk with a model behind the OpenAI protocol: what it adds, and what still works while it is out."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import structlog

from convengine.server import wiring
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.connections import read_connections
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.demo.talking import books, talk
from tests.fakes.openai_server import ModelServer, Says, model_server

#: The second message says more than the number, so a model is asked for its act.
CANCELLED = [
    ("I want to cancel an order", "Which order shall I cancel?", "COLLECT"),
    ("the one with the thermostat, 48392 I believe", "Order 48392 is a smart thermostat for 129.00", "CONFIRM"),
    ("yes", "order 48392 is cancelled", "DONE"),
]
WRITTEN = "It adds up what you used, your monthly fee, and taxes."


def clever(body: dict[str, Any]) -> Says:
    """What a model would say to each of the engine's questions."""
    asked = set(((body.get("response_format") or {}).get("json_schema") or {}).get("schema", {}).get("properties", {}))
    if "dialogueAct" in asked:
        return Says(json.dumps({"dialogueAct": "QUESTION", "confidence": 0.9, "standaloneQuery": ""}))
    if "action" in asked:
        plan = {"action": "ANSWER", "tool_code": None, "args": {}, "answer": "", "operation_tag": None}
        return Says(json.dumps(plan))
    if not asked:
        return Says(WRITTEN)
    return Says("{}")


@contextmanager
def model(registry: Registry, *says: Says) -> Iterator[ModelServer]:
    with model_server(*says, by=None if says else clever) as server:
        reached = wiring.make_model_client(read_connections({"desk": {"base_url": server.url, "models": ["small"]}}))
        with wiring.replace_outside_world(OutsideWorld(registry, reached)):
            yield server
        reached.close()


@pytest.mark.django_db(transaction=True)
def test_orders_are_cancelled_with_a_model_as_without_one(helpdesk: Registry, customer: Caller) -> None:
    with model(helpdesk) as server:
        talk(customer, CANCELLED)

    assert server.requests
    assert books("48392") == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_an_order_is_cancelled_while_the_model_is_out(helpdesk: Registry, customer: Caller) -> None:
    with model(helpdesk, Says("broken", 500)) as server:
        talk(customer, CANCELLED)

    assert server.requests
    assert books("48392") == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_a_model_writes_the_answer_about_the_bill_from_the_facts_of_the_prompt(
    helpdesk: Registry, customer: Caller
) -> None:
    with model(helpdesk) as server:
        talk(customer, [("please explain my bill", WRITTEN, "IDLE")])
    assert any("Northlight" in str(request) and "explain my bill" in str(request) for request in server.requests)

    with model(helpdesk, Says("broken", 500)):
        talk(customer, [("please explain my bill", "Your bill has three parts", "IDLE")])


@pytest.mark.django_db(transaction=True)
def test_a_message_that_only_the_model_could_understand_is_not_called_misunderstood(
    helpdesk: Registry, customer: Caller
) -> None:
    with model(helpdesk, Says("broken", 500)), structlog.testing.capture_logs() as logs:
        talk(customer, [("purple elephants dance at midnight", "I cannot answer that right now.", "UNKNOWN")])

    (line,) = [line for line in logs if line["event"] == "turn"]
    assert line["model_failures"] == line["model_calls"] > 0
