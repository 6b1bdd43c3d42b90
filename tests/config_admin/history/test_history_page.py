"""Who changed what, when and why; and one version put back."""

from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from tests.config_admin.admin.pages import a_response, address, newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def edit(row: Any, author: str, reason: str, **values: Any) -> int:
    with change_set(Origin.ADMIN, author, reason):
        for name, value in values.items():
            setattr(row, name, value)
        row.save()
    return int(newest().pk)


def history(client: Client, row: Any) -> Any:
    return client.get(address(type(row), "history", row.pk))


def put_back(client: Client, row: Any, version: int, **data: Any) -> Any:
    return client.post(address(type(row), "put_back", row.pk, version), {"reason": "Better before"} | data)


def test_each_entry_tells_who_why_and_what(ada: Client) -> None:
    row = a_response()
    edit(row, "ben", "Friendlier", exact_text="How much, please?", priority=7)

    page = history(ada, row)

    entry, first = page.context["page_obj"].entries
    assert (entry.what, entry.version.made_by, entry.version.reason) == ("Changed", "ben", "Friendlier")
    assert {change.label: [tuple(part) for part in change.segments] for change in entry.changes} == {
        "Text": [("same", "How "), ("out", "much?"), ("in", "much, please?")],
        "Priority": [("out", "100"), ("in", "7")],
    }
    assert first.what == "Added"
    assert f'href="{address(m.CeRelease, "change", newest().pk)}"' in page.content.decode()


def test_documents_are_compared_path_by_path(ada: Client) -> None:
    with change_set():
        row = make(m.CeOutputSchema)
    edit(row, "ben", "", json_schema={"type": "object", "properties": {"amount": {"type": "integer"}}})

    page = history(ada, row).content.decode()

    assert "<code>properties.amount.type</code></dt>" in page
    assert "<del>number</del><ins>integer</ins>" in page
    assert "{&#x27;" not in page


def test_the_last_entry_of_a_page_is_compared_with_the_next_page(ada: Client, monkeypatch: Any) -> None:
    row = a_response()
    for priority in (1, 2, 3):
        edit(row, "ben", "", priority=priority)
    from config_admin.history.history_page import HistoryAdmin

    monkeypatch.setattr(HistoryAdmin, "history_list_per_page", 2)

    entries = history(ada, row).context["page_obj"].entries

    assert [[tuple(part) for part in entry.changes[0].segments] for entry in entries] == [
        [("out", "2"), ("in", "3")],
        [("out", "1"), ("in", "2")],
    ]


def test_a_version_is_put_back(ada: Client) -> None:
    row = a_response()
    first = newest().pk
    edit(row, "ben", "Worse", exact_text="What?")

    response = ada.get(address(m.CeResponse, "put_back", row.pk, first))
    put_back(ada, row, first, reason="Better before")

    row.refresh_from_db()
    assert response.context["question"].rows[0].changes[0].label == "Text"
    assert row.exact_text == "How much?"
    assert (newest().origin, newest().author, newest().reason) == ("REVERT", "ada", "Better before")


def test_which_version_it_was_is_offered_as_the_reason_and_a_blank_one_is_asked_for_again(ada: Client) -> None:
    row = a_response()
    first = newest().pk
    worse = edit(row, "ben", "Worse", exact_text="What?")

    response = put_back(ada, row, first, reason=" ")

    assert response.context["reason"] == f"As in release {first}"
    assert "Enter a reason for this change" in response.content.decode()
    assert newest().pk == worse


def test_a_deleted_row_keeps_its_history_and_comes_back(ada: Client) -> None:
    row = a_response()
    first, pk = newest().pk, row.pk
    with change_set():
        row.delete()
    row.pk = pk

    assert [entry.what for entry in history(ada, row).context["page_obj"].entries] == ["Deleted", "Added"]
    put_back(ada, row, first)

    assert m.CeResponse.objects.filter(pk=pk).exists()


def test_a_version_that_the_checks_refuse_is_not_put_back(ada: Client) -> None:
    make(m.CeIntent)
    row = a_response(intent_code="LOAN")
    first = newest().pk
    edit(row, "ben", "", intent_code="UNKNOWN")
    m.CeIntent.objects.get(pk="LOAN").delete()

    page = put_back(ada, row, first)

    row.refresh_from_db()
    assert row.intent_code == "UNKNOWN"
    assert "The intent LOAN does not exist." in page.content.decode()


def test_a_row_that_is_so_already_is_not_put_back(ada: Client) -> None:
    row = a_response()
    before = newest().pk

    page = put_back(ada, row, before)

    assert "The row already has this content." in page.content.decode()
    assert newest().pk == before


def test_a_version_that_never_was_is_refused(ada: Client) -> None:
    assert "Release 4711 does not exist." in put_back(ada, a_response(), 4711).content.decode()


def test_readers_see_the_history_and_put_nothing_back(somebody: Any) -> None:
    row = a_response()
    first = newest().pk
    edit(row, "ben", "", priority=3)
    quinn = somebody("quinn", "qa")

    assert "Put back to this" not in history(quinn, row).content.decode()
    assert put_back(quinn, row, first).status_code == 403


def test_an_analyst_does_not_bring_a_reserved_setting_back(ben: Client) -> None:
    with change_set():
        row = make(m.CeConfig, config_key="LEASE_SECONDS", config_value="20")
    first = newest().pk
    edit(row, "ada", "", config_value="30")

    page = put_back(ben, row, first)

    row.refresh_from_db()
    assert row.config_value == "30"
    assert "only be changed by configuration administrators" in page.content.decode()
