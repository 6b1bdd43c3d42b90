import csv
import io
import json

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from audit.models import CeAccessLog
from audit.search import walk
from audit.search.query import SearchQuery
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller(make_key(scopes=["turns", "audit"]))
    for text in ("=HYPERLINK(1)", "hours", "fees, please"):
        caller.say(text)
    return caller


def read(response: object) -> str:
    return b"".join(response.streaming_content).decode()  # type: ignore[attr-defined]


def test_the_api_streams_a_table_of_all_results(caller: Caller) -> None:
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    answer = caller.client.get("/api/v1/audit/turns", {"format": "csv"}, headers=headers)
    rows = list(csv.DictReader(io.StringIO(read(answer).removeprefix("\ufeff"))))

    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert [row["message"] for row in rows] == ["fees, please", "hours", "'=HYPERLINK(1)"]
    assert {row["conversation"] for row in rows} == {caller.conversation_id}


def test_the_api_streams_lines_of_the_matching_turns(caller: Caller) -> None:
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    answer = caller.client.get("/api/v1/audit/turns", {"format": "ndjson", "intent": "fees"}, headers=headers)

    assert [json.loads(line)["turnNo"] for line in read(answer).splitlines()] == [3]
    refused = caller.client.get("/api/v1/audit/turns", {"format": "csv", "cursor": "oh1"}, headers=headers)
    assert refused.status_code == 400


def test_the_page_exports_its_search_and_logs_it(caller: Caller, client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(reverse("admin:audit_ceaudit_find"), {"intent": "FEES"})
    text = read(client.get(reverse("admin:audit_ceaudit_find"), {"intent": "FEES", "export": "csv"}))

    assert page.context["total"] == "1 turn"
    assert "export=csv" in page.content.decode()
    assert text.count("fees, please") == 1
    assert CeAccessLog.objects.get(kind="EXPORT").search == "intent=FEES&export=csv"


def test_the_total_is_exact_up_to_its_limit_and_says_that_there_are_more(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert walk.count_matches(SearchQuery()) == walk.Total(3, exact=True)
    monkeypatch.setattr(walk, "COUNTED", 3)
    assert walk.count_matches(SearchQuery()) == walk.Total(3, exact=True)
    monkeypatch.setattr(walk, "COUNTED", 2)
    assert walk.count_matches(SearchQuery()) == walk.Total(2, exact=False, beyond=True)


def test_the_first_page_of_the_api_has_the_total(caller: Caller) -> None:
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    first = caller.client.get("/api/v1/audit/turns", {"limit": 1}, headers=headers).json()
    second = caller.client.get("/api/v1/audit/turns", {"limit": 1, "cursor": first["next"]}, headers=headers).json()

    assert (first["total"], second["total"]) == ({"count": 3, "exact": True}, None)


def test_invisible_characters_are_named_in_results(caller: Caller, client: Client) -> None:
    CeConversationHistory.objects.filter(turn_no=3).update(user_input="pay \u202e001\u202c euros")
    client.force_login(User.objects.create_superuser("ada"))

    assert "pay [RLO]001[PDF] euros" in client.get(reverse("admin:audit_ceaudit_find")).content.decode()
