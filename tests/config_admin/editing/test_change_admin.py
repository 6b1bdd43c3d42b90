"""What others name is not deleted; what is deleted can be had back."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from config_admin import models as m
from tests.config_admin.admin.pages import a_response, address, newest, read_message
from tests.config_admin.builders import changed_rows, make

pytestmark = pytest.mark.django_db


def test_a_row_is_deleted_as_one_release(ada: Client) -> None:
    row = a_response()
    pk = row.pk

    response = ada.post(address(m.CeResponse, "delete", pk), {"post": "yes", "reason": "Not said any more"})

    assert not m.CeResponse.objects.filter(pk=pk).exists()
    assert (newest().author, newest().reason) == ("ada", "Not said any more")
    assert f"Release {newest().pk}</a> is active" in read_message(response, ada)


def test_an_intent_in_use_stays_and_the_rows_are_linked(ada: Client) -> None:
    make(m.CeIntent)
    rule = make(m.CeRule)

    page = ada.post(address(m.CeIntent, "delete", "LOAN"), {"post": "yes", "reason": "Because"}).content.decode()

    assert m.CeIntent.objects.filter(pk="LOAN").exists()
    assert f"1 row refers to LOAN: rule {rule.pk}. Disable it instead, or change those rows first." in page
    assert f'<a class="ce-link" href="{address(m.CeRule, "change", rule.pk)}">Rule {rule.pk} · ' in page


def test_the_last_fallback_answer_stays(ada: Client) -> None:
    row = m.CeResponse.objects.get()

    page = ada.post(address(m.CeResponse, "delete", row.pk), {"post": "yes", "reason": "Because"})

    assert m.CeResponse.objects.filter(pk=row.pk).exists()
    assert "This is the only answer for messages that are not recognised." in page.content.decode()


def test_the_last_two_fallback_answers_do_not_go_together(ada: Client) -> None:
    rows = [m.CeResponse.objects.get(), a_response(state_code="UNKNOWN")]
    data = {
        "action": "delete_selected",
        "post": "yes",
        "reason": "Because",
        ACTION_CHECKBOX_NAME: [row.pk for row in rows],
    }

    ada.post(address(m.CeResponse), data)

    assert m.CeResponse.objects.count() == 2


def test_many_are_deleted_as_one_release(ada: Client) -> None:
    rows = [a_response(priority=number) for number in range(3)]
    data = {"action": "delete_selected", ACTION_CHECKBOX_NAME: [row.pk for row in rows]}

    response = ada.post(address(m.CeResponse), data)
    assert "Delete 3 answers?" in " ".join(response.content.decode().split())
    ada.post(address(m.CeResponse), data | {"post": "yes", "reason": "Spring cleaning"})

    assert len(changed_rows(newest().pk)) == 3
    assert newest().reason == "Spring cleaning"


def test_a_tool_takes_its_statement_along(ada: Client) -> None:
    row = make(m.CeMcpDbTool)

    page = ada.get(address(m.CeMcpTool, "delete", row.tool_id)).content.decode()
    ada.post(address(m.CeMcpTool, "delete", row.tool_id), {"post": "yes", "reason": "Because"})

    assert "1 database tool" in page
    assert [table for table, _ in changed_rows(newest().pk)] == ["ce_mcp_tool", "ce_mcp_db_tool"]
