"""The inbox through the API: groups of the key's workspace, and decisions about them."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.inbox.job import update_inbox
from audit.models import CeInboxGroup
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.api import make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret() -> str:
    create_help_desk()
    for text in ("parking", "parking", "hours and fees", "wifi password"):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())
    return make_key(scopes=["audit", "config"])


def get(secret: str, **query: Any) -> Any:
    return Client().get("/api/v1/inbox", query, headers={"Authorization": f"Api-Key {secret}"})


def decide(secret: str, group: int, **body: Any) -> Any:
    headers = {"Authorization": f"Api-Key {secret}"}
    return Client().post(f"/api/v1/inbox/{group}/decision", json.dumps(body), "application/json", headers=headers)


def test_the_open_groups_are_listed_largest_first(secret: str) -> None:
    page = get(secret).json()
    assert page["next"] is None
    largest = page["results"][0]
    assert (largest["kind"], largest["count"], largest["messages"][0]["text"]) == ("NOT_UNDERSTOOD", 2, "parking")
    [two] = get(secret, kind="TWO_INTENTS").json()["results"]
    assert two["messages"][0]["text"] == "hours and fees"
    first = get(secret, limit=1).json()
    assert (len(first["results"]), first["next"]) == (1, 2)
    assert len(get(secret, limit=1, page=2).json()["results"]) == 1


def test_a_group_is_dismissed_noted_and_reopened(secret: str) -> None:
    group = get(secret).json()["results"][0]["id"]
    assert decide(secret, group, action="note", note="for Tom").json()["note"] == "for Tom"
    dismissed = decide(secret, group, action="dismiss").json()
    assert dismissed["status"] == "DISMISSED"
    assert dismissed["decision"].startswith("Dismissed by API key ")
    assert [row["id"] for row in get(secret, status="DISMISSED").json()["results"]] == [group]
    assert decide(secret, group, action="reopen").json()["status"] == "OPEN"


def test_a_key_that_only_reads_does_not_decide_and_one_that_only_writes_reads_no_message(secret: str) -> None:
    group = get(secret).json()["results"][0]["id"]
    assert decide(make_key(scopes=["audit"]), group, action="dismiss").status_code == 403
    answer = decide(make_key(scopes=["config"]), group, action="dismiss").json()
    assert (answer["status"], answer["messages"]) == ("DISMISSED", [])


def test_another_workspace_has_its_own_groups(secret: str) -> None:
    other = make_key(workspace_id="other", scopes=["audit", "config"])
    assert get(other).json()["results"] == []
    assert decide(other, CeInboxGroup.objects.first().pk, action="dismiss").status_code == 404


def test_wrong_calls_say_what_is_wrong(secret: str) -> None:
    assert get(secret, kind="NOTHING").status_code == 400
    assert decide(secret, 1, action="assign").status_code == 400
    assert "note" in decide(secret, 1, action="note").json()["fields"]
    assert decide(secret, 10**30, action="dismiss").status_code == 404
    assert get(make_key(scopes=["config"])).status_code == 403
    assert Client().get("/api/v1/inbox").status_code == 401


def test_the_number_of_queries_is_fixed(secret: str) -> None:
    get(secret)
    with CaptureQueriesContext(connection) as all_groups:
        get(secret)
    with CaptureQueriesContext(connection) as one_group:
        get(secret, limit=1)
    assert len(all_groups) == len(one_group)
