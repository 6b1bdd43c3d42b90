"""Where a row is used stands on its page and beside the question whether to delete it; what is in use stays."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address
from tests.config_admin.builders import MODELS, make, new

pytestmark = pytest.mark.django_db


def read_usages(client: Client, row: Any, page: str = "change") -> str:
    """What the section says."""
    text = client.get(address(type(row), page, row.pk)).content.decode()
    section = text.split('id="used-title"')[1].split("</section>")[0] if 'id="used-title"' in text else ""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", section))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.db_table)
def test_every_row_says_where_it_is_used(model: Any, ada: Client) -> None:
    assert "Where it is used" in read_usages(ada, make(model))


def test_a_new_row_says_nothing_of_it(ada: Client) -> None:
    assert "Where it is used" not in ada.get(address(m.CeRule, "add")).content.decode()


def test_users_are_links_with_what_they_are_for(ada: Client) -> None:
    intent = make(m.CeIntent)
    rule = make(m.CeRule, description="asks for the amount", enabled=False)

    usages = read_usages(ada, intent)

    assert f"Belongs to it Rule {rule.pk} asks for the amount disabled" in usages


def test_a_row_that_nothing_uses_says_so(ada: Client) -> None:
    assert "No other row uses it." in read_usages(ada, make(m.CePolicy))


def test_many_users_are_counted(ada: Client) -> None:
    intent = make(m.CeIntent)
    with change_set():
        m.CeRule.objects.bulk_create([new(m.CeRule) for _ in range(25)])

    assert "5 more are not shown." in read_usages(ada, intent)


def test_the_question_whether_to_delete_tells_what_leads_there(ada: Client) -> None:
    answer = a_response(intent_code="LOAN", state_code="DONE")
    rule = make(m.CeRule)

    assert f"Leads to its state Rule {rule.pk}" in read_usages(ada, answer, "delete")


@pytest.mark.parametrize("confirmed", [{}, {"post": "yes", "reason": "Because"}])
def test_what_is_in_use_is_not_deleted_from_its_page(confirmed: dict[str, str], ada: Client) -> None:
    intent, rule = make(m.CeIntent), make(m.CeRule)

    page = ada.post(address(m.CeIntent, "delete", intent.pk), confirmed)

    assert f"1 row refers to LOAN: rule {rule.pk}." in page.content.decode().replace("&#x27;", "'")
    assert m.CeIntent.objects.filter(pk=intent.pk).exists()


def test_nor_many_at_once_from_the_list(ada: Client) -> None:
    make(m.CeIntent)
    make(m.CeIntent, intent_code="MOVE")
    make(m.CeRule)
    sent = {"action": "delete_selected", "_selected_action": ["LOAN", "MOVE"], "post": "yes", "reason": "Because"}

    page = ada.post(address(m.CeIntent), sent).content.decode()

    assert "1 row refers to LOAN" in page
    assert m.CeIntent.objects.filter(pk__in=["LOAN", "MOVE"]).count() == 2


@pytest.mark.nightly
def test_a_page_costs_as_many_queries_with_five_thousand_users(ada: Client) -> None:
    intent = make(m.CeIntent)

    def queries() -> int:
        ada.get(address(m.CeIntent, "change", intent.pk))
        with CaptureQueriesContext(connection) as captured:
            ada.get(address(m.CeIntent, "change", intent.pk))
        return len(captured)

    few = queries()
    with change_set():
        m.CeRule.objects.bulk_create([new(m.CeRule) for _ in range(5000)])

    assert queries() == few
