"""Reading where a conversation stands, its turns, and one of them, by the API."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.timeline.serializers import EventSerializer
from config_admin.models import CeConfig, CeResponse
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller, make_key
from tests.audit.search.records import conversation, turn

pytestmark = pytest.mark.django_db
PATHS = ("", "/turns", "/turns/1/trace")


def read(caller: Caller, path: str = "", **query: Any) -> Any:
    return caller.client.get(
        f"/api/v1/conversation/{caller.conversation_id}{path}",
        query,
        headers={"Authorization": f"Api-Key {caller.secret}"},
    )


def walk_pages(caller: Caller, cursor: str, way: str, **query: Any) -> Iterator[list[int]]:
    while cursor:
        page = read(caller, "/turns", cursor=cursor, **query).json()
        yield [one["turnNo"] for one in page["results"]]
        cursor = page[way]


# --- where it stands ---------------------------------------------------------------------------------------------


def test_a_conversation_is_read_as_its_last_answer_left_it(caller: Caller) -> None:
    caller.say("fees")
    answer = caller.say("hours", inputParams={"vip": True})

    told = read(caller).json()

    assert told["conversationId"] == caller.conversation_id == told["participant"]
    assert (told["intent"], told["state"], told["context"]) == ("HOURS", "VIP", answer["context"])
    assert (told["status"], told["lifecycle"], told["turnCount"]) == (
        "RUNNING",
        answer["stateReport"]["lifecycle"],
        2,
    )
    last = told["lastTurn"]
    assert (last["turnId"], last["turnNo"], last["status"]) == (answer["turnId"], 2, "OK")
    assert (last["userText"], last["answer"], last["cost"]) == ("hours", answer["payload"], None)


def test_the_last_turn_may_have_failed_and_leaves_the_conversation_where_it_was(caller: Caller) -> None:
    caller.say("fees")
    CeResponse.objects.filter(intent_code="HOURS").delete()
    failure = caller.say("hours")

    told = read(caller).json()

    assert (told["intent"], told["turnCount"]) == ("FEES", 1)
    assert (told["lastTurn"]["status"], told["lastTurn"]["errorCode"]) == ("FAILED", failure["errorCode"])
    assert told["lastTurn"]["errorMessage"]


def test_a_conversation_without_turns_has_no_last_one(caller: Caller) -> None:
    caller.conversation_id = str(conversation().pk)

    assert read(caller).json()["lastTurn"] is None
    assert read(caller, "/turns").json() == {"next": None, "previous": None, "results": []}


def test_the_context_is_masked_as_events_are(caller: Caller) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value=r"4111\d+")
    CeConversation.objects.create(
        pk=caller.conversation_id,
        remote_jid="x",
        context_json={"password": "hunter2", "note": "card 41112222", "nested": {"token": "t"}, "city": "Ulm"},
        lifecycle_detail={"secret": "s", "reason": "begun"},
    )

    told = read(caller).json()

    assert told["context"] == {"password": "***", "note": "card ***", "nested": {"token": "***"}, "city": "Ulm"}
    assert told["lifecycleDetail"] == {"secret": "***", "reason": "begun"}


# --- its turns ---------------------------------------------------------------------------------------------------


def test_turns_come_newest_first_with_failed_ones_and_what_their_models_cost(caller: Caller) -> None:
    caller.say("hours")
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")
    turn(of=CeConversation.objects.get(), costs=[2, 1], source="EXTERNAL")

    found = read(caller, "/turns").json()["results"]

    assert [(one["turnNo"], one["status"], one["source"]) for one in found] == [
        (3, "OK", "EXTERNAL"),
        (2, "FAILED", "TURN"),
        (1, "OK", "TURN"),
    ]
    assert [one["cost"] for one in found] == [3, None, None]


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6])
def test_pages_of_turns_follow_one_another_without_gap_or_double_both_ways(caller: Caller, size: int) -> None:
    session = conversation()
    for number in range(5):
        turn(number, of=session)
    turn(of=conversation())
    caller.conversation_id = str(session.pk)

    first = read(caller, "/turns", limit=size).json()
    pages = [[one["turnNo"] for one in first["results"]], *walk_pages(caller, first["next"], "next", limit=size)]
    back = list(walk_pages(caller, "a1.0", "previous", limit=size))

    assert first["previous"] is None
    assert [number for page in pages for number in page] == [5, 4, 3, 2, 1]
    assert [number for page in reversed(back) for number in page] == [5, 4, 3, 2]
    assert all(len(page) == size for page in [*pages[:-1], *back[:-1]])


def test_a_page_of_turns_takes_the_same_queries_however_many_there_are_and_reads_no_recording(caller: Caller) -> None:
    session = conversation()
    caller.conversation_id = str(session.pk)
    counts = []
    for many in (1, 20):
        for number in range(many):
            turn(number, of=session)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert read(caller, "/turns").status_code == 200
        counts.append(len(asked))
        assert not any("recording" in one["sql"] or "COUNT(" in one["sql"].upper() for one in asked)

    assert counts[0] == counts[1] <= 4


# --- one turn ----------------------------------------------------------------------------------------------------


def test_the_trace_of_a_turn_is_that_of_the_conversation_for_this_turn(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")

    told = read(caller, "/turns/2/trace")

    assert told.json() == caller.get("/trace", turn=2).json()
    assert [one["userText"] for one in told.json()["turns"]] == ["fees"]


def test_a_turn_without_events_has_an_empty_trace_and_one_that_there_is_not_none(caller: Caller) -> None:
    caller.say("hours")
    CeConversationHistory.objects.update(events=None)

    assert read(caller, "/turns/1/trace").json()["turns"] == []
    assert read(caller, "/turns/2/trace").status_code == 404


# --- who may, and what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_conversations_of_other_workspaces_do_not_exist(caller: Caller, path: str) -> None:
    caller.say("hours")
    assert read(caller, path).status_code == 200

    caller.secret = make_key("other")
    foreign = read(caller, path)
    caller.conversation_id = str(uuid.uuid4())
    unknown = read(caller, path)

    assert foreign.status_code == unknown.status_code == 404
    assert foreign.json()["message"] == unknown.json()["message"]


@pytest.mark.parametrize("path", PATHS)
def test_a_key_needs_the_scope_of_the_audit(caller: Caller, path: str) -> None:
    caller.say("hours")
    caller.secret = make_key(scopes=["turns", "sessions"])

    assert read(caller, path).status_code == 403
    caller.secret = "none"
    assert read(caller, path).status_code == 401


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("/turns", {"cursor": "zz"}, "cursor"),
        ("/turns", {"limit": "0"}, "limit"),
        ("/turns", {"limit": "201"}, "limit"),
        ("/turns/0/trace", {}, "turnNo"),
        ("/turns/x/trace", {}, "turnNo"),
        ("/turns/" + "9" * 5000 + "/trace", {}, "turnNo"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(caller: Caller, path: str, query: dict[str, str], field: str) -> None:
    caller.say("hours")

    answer = read(caller, path, **query)

    assert (answer.status_code, list(answer.json()["fields"])) == (400, [field])


def test_an_id_may_be_spelled_in_any_way_and_what_is_none_is_told(caller: Caller) -> None:
    caller.say("hours")
    told = read(caller).json()

    known = uuid.UUID(caller.conversation_id)
    for spelled in (known.hex, str(known).upper(), f"{{{known}}}", known.urn):
        caller.conversation_id = spelled
        assert read(caller).json() == told
    for path in PATHS:
        caller.conversation_id = "z" * 36
        assert list(read(caller, path).json()["fields"]) == ["conversationId"]


# --- the wire ----------------------------------------------------------------------------------------------------

_TURN_KEYS = (
    "turnId turnNo startedAt status errorCode intent state configVersion durationMs cost userText answer source"
    " errorMessage contextEpoch replayable auditIncomplete requestId"
)


def test_keys_keep_their_order_and_times_their_offset(caller: Caller) -> None:
    caller.say("hours")

    conversation_document, page = read(caller).json(), read(caller, "/turns").json()
    events = caller.get(stage="USER_INPUT").json()["results"]
    account = caller.get("/account", turn=1).json()

    assert " ".join(conversation_document) == (
        "conversationId status lifecycle lifecycleDetail intent state context channel participant turnCount createdAt"
        " updatedAt lastTurn"
    )
    assert " ".join(page["results"][0]) == " ".join(conversation_document["lastTurn"]) == _TURN_KEYS
    assert list(events[0]) == list(EventSerializer().fields)
    assert " ".join(events[0]) == "auditId conversationId stage payload createdAt turnId turnNo seq configVersion"
    assert " ".join(account) == "conversationId turnNo turnId configVersion sentences reading"
    assert " ".join(account["sentences"][0]) == "text kind family tone seqs rows parts"
    times = (conversation_document["createdAt"], page["results"][0]["startedAt"], events[0]["createdAt"])
    assert {time[-6:] for time in times} == {"+00:00"}
