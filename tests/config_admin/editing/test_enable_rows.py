"""Rows switched together: judged first, asked once, one release."""

from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client

from config_admin import models as m
from tests.config_admin.admin.pages import a_response, address, newest
from tests.config_admin.builders import changed_rows, make

pytestmark = pytest.mark.django_db


def act(client: Client, model: Any, action: str, *rows: Any, **more: Any) -> Any:
    data = {"action": action, ACTION_CHECKBOX_NAME: [row.pk for row in rows], "reason": "Because", **more}
    return client.post(address(model), data)


def fallback() -> m.CeResponse:
    return m.CeResponse.objects.get(intent_code="UNKNOWN", state_code="UNKNOWN")


def test_it_asks_first(ada: Client) -> None:
    row = a_response()

    page = act(ada, m.CeResponse, "disable_selected", row)

    row.refresh_from_db()
    assert page.context["question"].answer == "Disable 1 answer"
    assert row.enabled


def test_all_of_them_change_in_one_release(ada: Client) -> None:
    rows = [a_response(priority=number) for number in range(3)]

    response = act(ada, m.CeResponse, "disable_selected", *rows, confirmed="1", reason="Quiet night")

    release = newest()
    assert response.status_code == 302
    assert (release.author, release.reason) == ("ada", "Quiet night")
    assert changed_rows(release.pk) == [("ce_response", row.pk) for row in rows]
    assert not m.CeResponse.objects.filter(pk__in=[row.pk for row in rows], enabled=True).exists()


def test_the_last_fallback_answer_stays_on(ada: Client) -> None:
    page = act(ada, m.CeResponse, "disable_selected", fallback(), confirmed="1")

    assert "This is the only answer for messages that are not recognised." in page.content.decode()
    assert fallback().enabled


def test_two_fallback_answers_are_not_switched_off_together(ada: Client) -> None:
    first, second = fallback(), a_response(state_code="UNKNOWN")

    page = act(ada, m.CeResponse, "disable_selected", first, second, confirmed="1")

    assert "This is the only answer" in page.content.decode()
    assert m.CeResponse.objects.filter(enabled=True).count() == 2


def test_a_broken_row_can_be_switched_off_but_not_on(ada: Client) -> None:
    row = make(m.CePolicy, rule_type="REGEX", pattern="(")

    act(ada, m.CePolicy, "disable_selected", row, confirmed="1")
    row.refresh_from_db()
    assert not row.enabled

    page = act(ada, m.CePolicy, "enable_selected", row, confirmed="1")
    row.refresh_from_db()
    assert not row.enabled
    assert "is not valid" in page.content.decode()


def test_rows_that_are_so_already_are_left_alone(ada: Client) -> None:
    row, before = a_response(), newest().pk

    act(ada, m.CeResponse, "enable_selected", row, confirmed="1")

    assert newest().pk == before


def test_all_rows_of_a_list_are_switched_without_naming_each(ada: Client) -> None:
    rows = [a_response(priority=number) for number in range(3)]

    page = ada.post(
        f"{address(m.CeResponse)}?state_code=IDLE",
        {"action": "disable_selected", "select_across": "1", ACTION_CHECKBOX_NAME: [rows[0].pk]},
    )
    inputs = dict(page.context["question"].inputs)
    ada.post(page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"], inputs | {"reason": "Because"})

    assert inputs.pop(ACTION_CHECKBOX_NAME) == str(rows[0].pk)
    assert inputs == {"action": "disable_selected", "select_across": "1", "confirmed": "1"}
    assert m.CeResponse.objects.filter(enabled=False).count() == 3
    assert fallback().enabled


def test_an_analyst_does_not_switch_reserved_settings(ben: Client) -> None:
    row = make(m.CeConfig, config_key="LEASE_SECONDS", config_value="20")

    page = act(ben, m.CeConfig, "disable_selected", row, confirmed="1")

    row.refresh_from_db()
    assert row.enabled
    assert "only be changed by configuration administrators" in page.content.decode()


def test_readers_have_no_actions(somebody: Any) -> None:
    row = a_response()
    quinn = somebody("quinn", "qa")

    act(quinn, m.CeResponse, "disable_selected", row, confirmed="1")

    row.refresh_from_db()
    assert row.enabled
