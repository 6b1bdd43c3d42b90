"""Preferences, checked against what is installed: two models and two knowledge bases."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit.replay.replay import find_replay_difference
from config_admin.models import CeMcpTool, CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.server import wiring
from convengine.server.executors.document_store import put
from convengine.server.executors.models import CeDocumentCollection
from convengine.server.model_clients.connections import read_connections
from tests.api import Caller
from tests.threads import Participant, row_of, set_rule, travel_desk

pytestmark = pytest.mark.django_db
TWO_MODELS = {"local": {"base_url": "http://127.0.0.1:9/v1", "models": ["quick", "thorough"]}}


@pytest.fixture
def guest(monkeypatch: pytest.MonkeyPatch) -> Participant:
    travel_desk()
    CeMcpTool.objects.create(tool_code="search", tool_group="DOCUMENT_RETRIEVAL", intent_code="ANY", state_code="ANY")
    for name in ("rules", "prices"):
        collection = CeDocumentCollection.objects.create(name=name)
        put(collection, f"About {name}", f"Everything on luggage, as the {name} have it.")
    monkeypatch.setattr("convengine.server.threads.known_preferences.models", lambda: read_connections(TWO_MODELS))
    return Participant()


class Noting(ScriptedModel):
    """A script that notes which model was asked."""

    def complete(self, request: Any) -> Any:
        self.asked = request.model
        return super().complete(request)


def test_what_a_request_prefers_is_the_next_turns_default(guest: Participant) -> None:
    guest.say("hours", preferences={"model": "thorough", "knowledge_base": "rules"})

    answer = guest.say("and on sunday?")

    assert answer["session"]["preferences"] == {"model": "thorough", "knowledge_base": "rules"}
    assert answer["session"]["mounted_kb_id"] == "rules"


def test_the_preferred_model_is_asked(guest: Participant) -> None:
    model = Noting([ScriptLine(("INTENT_AGENT",), "{}")])
    with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
        guest.say("hello", preferences={"preferredModel": "thorough"})
        first = model.asked
        guest.say("hello again", preferences={"model": "quick"})

    assert (first, model.asked) == ("thorough", "quick")


def test_a_preferred_model_that_is_not_there_any_more_gives_way_to_that_of_the_settings(guest: Participant) -> None:
    class Changed(Noting):
        def allows(self, name: str) -> bool:
            return name != "thorough"

    with wiring.replace_outside_world(
        wiring.OutsideWorld(model=(model := Changed([ScriptLine(("INTENT_AGENT",), "{}")])))
    ):
        answer = guest.say("hello", preferences={"model": "thorough"})

    assert (answer["ok"], model.asked) == (True, "")
    assert find_replay_difference(row_of(answer).turns.get()) is None


def test_what_comes_with_a_message_is_preferred_in_the_task_that_it_begins(guest: Participant) -> None:
    before = guest.say("hours", preferences={"model": "quick", "planner": "built-in"})

    answer = guest.say("a trip please", preferences={"knowledge_base": "rules"})

    assert answer["session_id"] != before["session_id"]
    row = row_of(answer)
    assert (row.preferences, row.mounted_kb_id) == ({"knowledge_base": "rules"}, "rules")
    assert row_of(before).preferences == {"model": "quick", "planner": "built-in"}


@pytest.mark.parametrize(
    ("preferences", "field", "known"),
    [
        ({"model": "huge"}, "preferences.model", "local:quick, local:thorough, quick, thorough"),
        ({"knowledge_base": "gossip"}, "preferences.knowledge_base", "prices, rules"),
        ({"planner": "other"}, "preferences.planner", "built-in"),
        ({"colour": "red"}, "preferences.colour", "model, planner, intent_resolver, knowledge_base, tool_set"),
        ({"mountedKbId": "gossip"}, "preferences.mountedKbId", "prices, rules"),
    ],
)
def test_an_unknown_id_is_refused_and_the_known_ones_are_named(
    guest: Participant, preferences: Any, field: str, known: str
) -> None:
    on_thread = guest.call("post", "/message", {**guest.thread, "user_message": "hours", "preferences": preferences})
    plain = Caller(guest.secret).post({"message": "hours", "preferences": preferences})

    for response in (on_thread, plain):
        assert response.status_code == 400
        assert known in response.json()["fields"][field][0]


def test_another_workspaces_knowledge_base_is_not_known(guest: Participant) -> None:
    CeDocumentCollection.objects.filter(name="rules").update(workspace_id="other")

    response = guest.call(
        "post", "/message", {**guest.thread, "user_message": "hours", "preferences": {"knowledge_base": "rules"}}
    )

    assert response.status_code == 400


def test_a_kind_with_one_choice_takes_that_one(guest: Participant) -> None:
    assert guest.say("hours", preferences={"planner": "built-in"})["session"]["preferences"] == {"planner": "built-in"}


def test_a_rule_may_prefer(guest: Participant) -> None:
    set_rule("HOURS", "SET_PREFERENCE", "knowledge_base:prices")

    row = row_of(guest.say("hours"))

    assert (row.preferences, row.mounted_kb_id) == ({"knowledge_base": "prices"}, "prices")


def test_a_turn_that_fails_prefers_nothing(guest: Participant) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()

    answer = guest.say("hours", preferences={"model": "quick"})

    assert (answer["ok"], row_of(answer).preferences) == (False, {})


def search(guest: Participant, preferences: Any) -> Any:
    """Search documents about luggage; gives the answer."""
    request = {"tool_code": "search", "tool_group": "DOCUMENT_RETRIEVAL", "args": {"query": "luggage"}}
    return guest.say("hours", preferences=preferences, input_params={"tool_request": request})


def list_found_documents(guest: Participant, answer: Any) -> set[str]:
    result = row_of(answer).turns.latest("turn_no").facts["tool_result"]
    return {document["collection"] for document in result["result"]["documents"]}


@pytest.mark.parametrize("name", ["rules", "prices"])
def test_documents_are_searched_in_the_mounted_knowledge_base(guest: Participant, name: str) -> None:
    assert list_found_documents(guest, search(guest, {"knowledge_base": name})) == {name}


def test_without_one_all_are_searched(guest: Participant) -> None:
    assert list_found_documents(guest, search(guest, {})) == {"rules", "prices"}


def test_one_that_is_out_of_date_is_left_out_and_told(guest: Participant) -> None:
    search(guest, {"knowledge_base": "rules"})
    CeDocumentCollection.objects.filter(name="rules").update(expires_at=timezone.now() - timedelta(minutes=1))

    answer = search(guest, {})

    assert answer["ok"]
    assert list_found_documents(guest, answer) == {"prices"}
    assert guest.stages(answer, "KB_UNAVAILABLE")[0]["knowledgeBase"] == "rules"
