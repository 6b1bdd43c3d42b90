from datetime import timedelta

import pytest
from django.db import connection

from config_admin.models import CeIntent, CeResponse, CeStateGraph
from config_admin.releases.models import CeRelease
from convengine.play import database
from convengine.play.scenario import BEGINNING, MAIN, Edge, Edit, Scenario, ScenarioTurn, Start, ThreadName
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation, CeConversationHistory

pytestmark = pytest.mark.dialects


@pytest.mark.django_db
def test_a_database_that_nobody_gave_to_scenarios_is_never_emptied() -> None:
    CeIntent.objects.create(intent_code="A")

    with pytest.raises(database.NotDisposable):
        database.empty_database()

    assert CeIntent.objects.exists()


@pytest.mark.django_db
def test_nothing_is_left_in_a_database_that_is_emptied_not_even_what_is_shipped() -> None:
    CeResponse.objects.get_or_create(intent_code="UNKNOWN", state_code="UNKNOWN", response_type="EXACT")
    CeApiKey.objects.create_key(name="x")

    with database.allow_emptying():
        database.empty_database()

    assert not CeResponse.objects.exists()
    assert not CeApiKey.objects.exists()
    assert not CeRelease.objects.exists()


@pytest.mark.django_db
def test_a_database_is_disposable_for_a_while_only() -> None:
    with database.allow_emptying():
        pass

    with pytest.raises(database.NotDisposable):
        database.empty_database()


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_scratch_database_is_another_one_and_the_installations_stays_untouched() -> None:
    CeIntent.objects.create(intent_code="MINE")
    main_name = connection.settings_dict["NAME"]

    with database.use_scratch_database():
        assert connection.vendor == "sqlite"
        assert connection.settings_dict["NAME"] != main_name
        assert not CeIntent.objects.exists()
        database.empty_database()
        CeIntent.objects.create(intent_code="OTHER")

    assert connection.settings_dict["NAME"] == main_name
    assert list(CeIntent.objects.values_list("intent_code", flat=True)) == ["MINE"]


def build_scenario(**parts: object) -> Scenario:
    turns = (ScenarioTurn("hi"), ScenarioTurn("hi", conversation="other"))
    return Scenario(**{"id": "world", "title": "A world", "turns": turns, **parts})  # type: ignore[arg-type]


@pytest.mark.django_db
def test_every_conversation_that_a_turn_names_gets_an_id_and_none_is_stored() -> None:
    ids = database.build_world(build_scenario())

    assert set(ids) == {MAIN, "other"}
    assert ids[MAIN] != ids["other"]
    assert not CeConversation.objects.exists()


@pytest.mark.django_db
def test_rows_and_edges_are_stored_in_one_release() -> None:
    before = CeRelease.objects.count()

    database.build_world(
        build_scenario(tables={"ce_intent": [{"intent_code": "A"}]}, edges=[Edge("X", "Y"), Edge("Y", "Z", "A")])
    )

    assert CeIntent.objects.get().intent_code == "A"
    edges = CeStateGraph.objects.order_by("from_state").values_list("intent_code", "from_state", "to_state")
    assert list(edges) == [("ANY", "X", "Y"), ("A", "Y", "Z")]
    assert CeRelease.objects.count() == before + 1


@pytest.mark.django_db
def test_the_conversation_that_is_there_already_is_the_main_one_with_its_turns() -> None:
    row = {"intent_code": "A", "state_code": "B", "context_json": {"x": 1}, "input_params_json": {}}

    key = database.build_world(build_scenario(start=Start(row, (("hi", "hello"), ("more", "sure")))))[MAIN]

    stored = CeConversation.objects.get(pk=key)
    assert (stored.intent_code, stored.state_code, stored.context_json, stored.last_turn_no) == ("A", "B", {"x": 1}, 2)
    turns = CeConversationHistory.objects.filter(conversation=stored).order_by("turn_no")
    assert [(turn.user_input, turn.assistant_output["value"]) for turn in turns] == [("hi", "hello"), ("more", "sure")]


@pytest.mark.django_db
def test_a_conversation_goes_on_with_the_number_the_thread_and_the_params_of_its_last_turn() -> None:
    start = Start(
        {"last_turn_no": 7, "turn_count": 6, "context_epoch": 2},
        (("hi", "hello"), ("more", "sure")),
        {"dialogue_act": "EDIT"},
        {"created_at": timedelta(hours=1)},
    )
    turn = ScenarioTurn("go on", thread=ThreadName("+1555"))

    key = database.build_world(build_scenario(start=start, turns=(turn,)))[MAIN]

    stored = CeConversation.objects.get(pk=key)
    assert (stored.remote_jid, stored.channel, stored.last_turn_no, stored.turn_count) == ("+1555", "whatsapp", 7, 6)
    assert stored.created_at == BEGINNING + timedelta(hours=1)
    turns = CeConversationHistory.objects.filter(conversation=stored).order_by("turn_no")
    assert [(turn.turn_no, turn.context_epoch, turn.facts) for turn in turns] == [
        (6, 2, None),
        (7, 2, {"dialogue_act": "EDIT"}),
    ]


@pytest.mark.django_db
def test_params_of_the_last_turn_are_there_without_a_history() -> None:
    start = Start({"last_turn_no": 3}, previous_turn={"dialogue_act": "EDIT"})

    key = database.build_world(build_scenario(start=start))[MAIN]

    (turn,) = CeConversationHistory.objects.filter(conversation_id=key)
    assert (turn.turn_no, turn.status, turn.facts) == (3, "BLOCKED", {"dialogue_act": "EDIT"})


@pytest.mark.django_db
def test_edits_are_made_in_their_order() -> None:
    database.apply_edits(
        [
            Edit("insert", "ce_intent", {"intent_code": "A"}),
            Edit("insert", "ce_intent", {"intent_code": "B"}),
            Edit("update", "ce_intent", {"priority": 5}, {"intent_code": "A"}),
            Edit("delete", "ce_intent", {}, {"intent_code": "B"}),
        ]
    )

    assert list(CeIntent.objects.values_list("intent_code", "priority")) == [("A", 5)]
