"""Two model services and two knowledge bases behind a real server: the chosen one serves, until another is chosen."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.models import CeAudit, CeLlmCallLog
from config_admin.models import CeMcpTool
from convengine.server.executors.document_store import put
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import make_key
from tests.fakes.openai_server import ModelServer, Says, model_server
from tests.live.client import MESSAGE, post
from tests.live.processes import Server, start_granian
from tests.live.written import written_desk

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def models() -> Iterator[tuple[ModelServer, ModelServer]]:
    with model_server(Says("says quick")) as quick, model_server(Says("says thorough")) as thorough:
        yield quick, thorough


@pytest.fixture
def server(transactional_db: None, models: tuple[ModelServer, ModelServer]) -> Iterator[Server]:
    """A server with both models, the quick one by default, and documents on luggage in two collections."""
    written_desk()
    CeMcpTool.objects.create(tool_code="search", tool_group="DOCUMENT_RETRIEVAL", intent_code="ANY", state_code="ANY")
    for name in ("rules", "prices"):
        put(CeDocumentCollection.objects.create(name=name), f"About {name}", f"Luggage, as the {name} have it.")
    quick, thorough = models
    connections = {
        "near": {"base_url": quick.url, "models": ["quick"]},
        "far": {"base_url": thorough.url, "models": ["thorough"]},
    }
    running = start_granian(CE_LLM_CONNECTIONS=json.dumps(connections))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.end()


class Guest:
    """Somebody who asks for the fees, again and again."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.secret = make_key()

    def ask(self, preferences: dict[str, str] | None = None, *, search: bool = False) -> Any:
        request = {"tool_code": "search", "tool_group": "DOCUMENT_RETRIEVAL", "args": {"query": "luggage"}}
        body = {
            "workspace_id": "default",
            "channel": "whatsapp",
            "remote_jid": "+1555",
            "user_message": "fees",
            **({"preferences": preferences} if preferences else {}),
            **({"input_params": {"tool_request": request}} if search else {}),
        }
        reply = post(self.server.port, self.secret, body, path=MESSAGE)
        assert reply, self.server.text()
        return reply.body


def list_searched_collections() -> set[str]:
    """The collections that the last turn found something in."""
    facts = CeConversationHistory.objects.latest("history_id").facts
    assert facts
    return {one["collection"] for one in facts["tool_result"]["result"]["documents"]}


@pytest.mark.long
def test_the_chosen_model_answers_each_turn_until_another_is_chosen(
    server: Server, models: tuple[ModelServer, ModelServer]
) -> None:
    guest, (quick, thorough) = Guest(server), models

    said = [
        guest.ask(preferences)["reply"]
        for preferences in (None, {"model": "thorough"}, None, {"preferredModel": "near:quick"}, None)
    ]

    assert said == ["says quick", "says thorough", "says thorough", "says quick", "says quick"]
    assert {body["model"] for body in quick.requests} == {"quick"}
    assert {body["model"] for body in thorough.requests} == {"thorough"}
    logged = CeLlmCallLog.objects.filter(purpose="RESPONSE_TEXT").order_by("llm_call_id")
    assert [row.model for row in logged] == ["quick", "thorough", "thorough", "quick", "quick"]
    refused = guest.ask({"model": "huge"})
    assert refused["fields"] == {
        "preferences.model": ["'huge' is not installed. Known: far:thorough, near:quick, quick, thorough."]
    }
    assert CeConversation.objects.get().turn_count == 5


@pytest.mark.long
def test_the_mounted_knowledge_base_is_searched_until_it_is_out_of_date_or_gone(server: Server) -> None:
    guest = Guest(server)
    guest.ask({"knowledge_base": "rules"}, search=True)
    assert list_searched_collections() == {"rules"}
    guest.ask(search=True)
    assert list_searched_collections() == {"rules"}
    guest.ask({"mountedKbId": "prices"}, search=True)
    assert list_searched_collections() == {"prices"}

    CeDocumentCollection.objects.filter(name="prices").update(expires_at=timezone.now() - timedelta(seconds=1))
    out_of_date = guest.ask(search=True)
    assert (out_of_date["ok"], list_searched_collections()) == (True, {"rules"})
    CeDocumentCollection.objects.filter(name="prices").delete()
    gone = guest.ask(search=True)
    assert (gone["ok"], list_searched_collections()) == (True, {"rules"})

    told = CeAudit.objects.filter(stage__startswith="KB_UNAVAILABLE").order_by("turn_no")
    assert [(event.turn_no, event.payload_json["knowledgeBase"]) for event in told] == [(4, "prices"), (5, "prices")]
    assert gone["session"]["mounted_kb_id"] == "prices"
