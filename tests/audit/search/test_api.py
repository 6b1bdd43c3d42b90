"""Finding turns by the API: the same search within the caller's workspace, and errors that name the field."""

from typing import Any

import pytest
from django.test import Client

from tests.api import Caller, make_key
from tests.audit.search.records import conversation, turn
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret() -> str:
    return make_key()


def search(secret: str, **query: Any) -> Any:
    return Client().get("/api/v1/audit/turns", query, headers={"Authorization": f"Api-Key {secret}"})


def test_a_turn_that_was_taken_is_found_with_what_is_known_of_it() -> None:
    create_help_desk()
    caller = Caller()
    taken = caller.say("hours")

    (told,) = search(caller.secret, q="HOURS", intent="hours", stage="USER_INPUT").json()["results"]

    assert told["turnId"] == taken["turnId"]
    assert told["conversationId"] == caller.conversation_id == told["participant"]
    assert (told["turnNo"], told["status"], told["intent"], told["userText"]) == (1, "OK", "HOURS", "hours")
    assert told["configVersion"] == taken["configVersion"]
    assert told["answer"] == taken["payload"]


def test_pages_are_walked_by_cursors(secret: str) -> None:
    turns = [str(turn(number, intent_code="TRACK").turn_id) for number in range(5)]
    first = search(secret, intent="TRACK", limit=2).json()
    second = search(secret, intent="TRACK", limit=2, cursor=first["next"]).json()

    assert [one["turnId"] for page in (first, second) for one in page["results"]] == turns[:0:-1]
    assert search(secret, intent="TRACK", limit=2, cursor=second["previous"]).json()["results"] == first["results"]
    assert first["previous"] is None
    assert first["lookedBackTo"] is None


def test_turns_of_other_workspaces_do_not_exist(secret: str) -> None:
    other = turn(of=conversation(workspace_id="other", remote_jid="+49"))

    for query in ({}, {"participant": "+49"}, {"id": str(other.turn_id)}, {"show": "conversations"}):
        assert search(secret, **query).json()["results"] == []
    assert len(search(make_key("other")).json()["results"]) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"q": "?"}, "q"),
        ({"intents": "A"}, "intents"),
        ({"since": "soon"}, "since"),
        ({"table": "ce_rule"}, "row"),
        ({"cursor": "x"}, "cursor"),
        ({"limit": "201"}, "limit"),
        ({"limit": "0"}, "limit"),
        ({"release": "-1"}, "release"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(secret: str, query: dict[str, str], field: str) -> None:
    answer = search(secret, **query)

    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_a_key_without_the_scope_finds_nothing() -> None:
    assert search(make_key(scopes=["turns"])).status_code == 403
    assert Client().get("/api/v1/audit/turns").status_code == 401
