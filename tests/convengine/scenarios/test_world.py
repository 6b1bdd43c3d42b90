import pytest

from config_admin.models import CeIntent, CeStateGraph
from config_admin.releases.models import CeRelease
from convengine.scenarios import world
from convengine.scenarios.scenario import MAIN, Edge, Edit, Scenario, Start, Turn
from convengine.server.sessions.models import CeConversation, CeConversationHistory

pytestmark = pytest.mark.django_db


def scenario(**parts: object) -> Scenario:
    turns = (Turn("hi"), Turn("hi", conversation="other"))
    return Scenario("world", "A world", turns, **parts)  # type: ignore[arg-type]


def test_every_conversation_that_a_turn_names_gets_an_id_and_none_is_stored() -> None:
    ids = world.build(scenario())

    assert set(ids) == {MAIN, "other"}
    assert ids[MAIN] != ids["other"]
    assert not CeConversation.objects.exists()


def test_rows_and_edges_are_stored_in_one_release() -> None:
    before = CeRelease.objects.count()

    world.build(scenario(tables={"ce_intent": [{"intent_code": "A"}]}, edges=[Edge("X", "Y"), Edge("Y", "Z", "A")]))

    assert CeIntent.objects.get().intent_code == "A"
    edges = CeStateGraph.objects.order_by("from_state").values_list("intent_code", "from_state", "to_state")
    assert list(edges) == [("ANY", "X", "Y"), ("A", "Y", "Z")]
    assert CeRelease.objects.count() == before + 1


def test_the_conversation_that_is_there_already_is_the_main_one_with_its_turns() -> None:
    row = {"intent_code": "A", "state_code": "B", "context_json": {"x": 1}, "input_params_json": {}}

    key = world.build(scenario(start=Start(row, (("hi", "hello"), ("more", "sure")))))[MAIN]

    stored = CeConversation.objects.get(pk=key)
    assert (stored.intent_code, stored.state_code, stored.context_json, stored.last_turn_no) == ("A", "B", {"x": 1}, 2)
    turns = CeConversationHistory.objects.filter(conversation=stored).order_by("turn_no")
    assert [(turn.user_input, turn.assistant_output["value"]) for turn in turns] == [("hi", "hello"), ("more", "sure")]


def test_edits_are_made_in_their_order() -> None:
    world.edit(
        [
            Edit("insert", "ce_intent", {"intent_code": "A"}),
            Edit("insert", "ce_intent", {"intent_code": "B"}),
            Edit("update", "ce_intent", {"priority": 5}, {"intent_code": "A"}),
            Edit("delete", "ce_intent", {}, {"intent_code": "B"}),
        ]
    )

    assert list(CeIntent.objects.values_list("intent_code", "priority")) == [("A", 5)]
