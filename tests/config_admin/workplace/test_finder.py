"""The search as a page and as what the box asks."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address
from tests.config_admin.builders import make, new, rules

pytestmark = pytest.mark.django_db
FIND = "/admin/find/"


def find(client: Client, text: str = "") -> Any:
    return client.get(FIND, {"q": text}, headers={"Accept": "application/json"}).json()


def names(client: Client, text: str = "") -> list[str]:
    return [hit["name"] for hit in find(client, text)["hits"]]


def test_what_is_found_leads_to_its_page(ada: Client) -> None:
    rule = make(m.CeRule, match_pattern="mortgage")

    hit = find(ada, "mortgage")["hits"][0]

    assert (hit["name"], hit["url"]) == (f"Rule {rule.pk}", address(m.CeRule, "change", rule.pk))


def test_the_page_shows_the_same_with_the_words_marked(ada: Client) -> None:
    make(m.CeRule, match_pattern="a <b>mortgage</b>")

    text = ada.get(FIND, {"q": "mortgage"}).content.decode()

    assert "1 result" in text
    assert "condition: a &lt;b&gt;<mark>mortgage</mark>&lt;/b&gt;" in text


def test_an_edit_is_found_at_once(ada: Client) -> None:
    row = a_response(exact_text="Nothing of the kind")
    assert names(ada, "mortgage") == []

    m.CeResponse.objects.filter(pk=row.pk).update(exact_text="About your mortgage")

    assert names(ada, "mortgage") == [f"Answer {row.pk}"]


def test_pages_are_found_as_the_sidebar_calls_them(ada: Client) -> None:
    assert "Prompt templates" in names(ada, "prompt templates")


def test_an_id_leads_to_the_conversation_of_whoever_may_read(ada: Client, somebody: Callable[..., Client]) -> None:
    wanted = uuid.uuid4()

    assert names(ada, str(wanted)) == [f"Conversation {wanted}"]
    assert names(somebody("ivy", "integrator"), str(wanted)) == []


def test_nobody_finds_what_they_may_not_see(somebody: Callable[..., Client], client: Client) -> None:
    make(m.CeRule, match_pattern="mortgage")
    olga = somebody("olga", "operator")

    assert names(olga, "mortgage") == []
    assert client.get(FIND).status_code == 302


def test_without_words_nothing_is_found(ada: Client) -> None:
    make(m.CeRule)

    assert find(ada) == {"hits": [], "total": 0}
    assert "found-title" not in ada.get(FIND).content.decode()


@pytest.mark.nightly
def test_a_search_costs_as_many_queries_at_five_thousand_rules(ada: Client) -> None:
    def queries(url: str) -> int:
        ada.get(url)
        with CaptureQueriesContext(connection) as captured:
            ada.get(url)
        return len(captured)

    with change_set():
        m.CeRule.objects.bulk_create([new(m.CeRule) for _ in range(10)])
    few = queries(f"{FIND}?q=pattern")
    with change_set():
        m.CeRule.objects.bulk_create(rules(4990))

    assert queries(f"{FIND}?q=pattern") == few
    assert few <= 7


def test_an_intent_with_the_word_comes_before_its_phrases(ada: Client) -> None:
    a_response(exact_text="Tattoo studio Needle")
    make(m.CeIntent, intent_code="BOOK_TATTOO")

    assert names(ada, "tattoo")[0] == "Intent BOOK_TATTOO"


@pytest.mark.parametrize("text", ["rent a bicycle", "Bicycle rent", "RENT A"])
def test_the_name_of_a_flow_finds_its_rows(ada: Client, text: str) -> None:
    make(m.CeIntent, intent_code="CYCLES", display_name="Rent a bicycle")
    make(m.CeIntent, intent_code="CARS", display_name="Wash a car")
    answer = a_response(intent_code="CYCLES", exact_text="It is ten a day.")
    rule = make(m.CeRule, intent_code="CYCLES")
    a_response(intent_code="CARS", exact_text="It is clean.")

    assert set(names(ada, text)) >= {f"Answer {answer.pk}", f"Rule {rule.pk}"}
    assert len([name for name in names(ada, text) if name.startswith("Answer")]) == 1
