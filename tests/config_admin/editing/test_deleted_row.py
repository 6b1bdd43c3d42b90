"""A row that is deleted while somebody edits it: the text is kept, and the row can be made again."""

from typing import Any

import pytest
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, form_of, newest, send_again
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


def delete(client: Client, row: Any) -> None:
    sent = {"post": "yes", "reason": "Not said any more"}
    assert client.post(address(type(row), "delete", row.pk), sent).status_code == 302


def test_the_text_is_kept_and_the_row_is_made_again_with_it(ada: Client, ben: Client) -> None:
    row = a_response()
    opened = ada.get(address(m.CeResponse, "change", row.pk))
    delete(ben, row)

    held = send_again(ada, opened, exact_text="Ada is here.", reason="Still needed")

    page = held.content.decode()
    assert f"Not saved: ben deleted Answer {row.pk} while you were editing" in page
    assert "Reason: Not said any more" in page
    assert form_of(held)["exact_text"].value() == "Ada is here."
    assert not m.CeResponse.objects.filter(pk=row.pk).exists()

    assert send_again(ada, held, _again="1").status_code == 302
    now = m.CeResponse.objects.get(pk=row.pk)
    assert (now.exact_text, now.created_at) == ("Ada is here.", row.created_at)
    assert (newest().author, newest().reason) == ("ada", "Still needed")
    assert [entry.history_type for entry in now.history.order_by("history_id")] == ["+", "-", "+"]


def test_a_row_whose_key_is_typed_comes_back_under_it(ada: Client, ben: Client) -> None:
    with change_set():
        intent = make(m.CeIntent)
    opened = ada.get(address(m.CeIntent, "change", "LOAN"))
    delete(ben, intent)

    held = send_again(ada, opened, description="Wants money.")
    response = send_again(ada, held, _again="1", _confirm="1")

    assert response.status_code == 302
    assert m.CeIntent.objects.get(pk="LOAN").description == "Wants money."


def test_errors_hold_it_as_ever(ada: Client, ben: Client) -> None:
    row = a_response()
    opened = ada.get(address(m.CeResponse, "change", row.pk))
    delete(ben, row)

    held = send_again(ada, send_again(ada, opened, exact_text="Ada is here."), _again="1", state_code="")

    assert form_of(held).errors["state_code"]
    assert "deleted Answer" in held.content.decode()
    assert not m.CeResponse.objects.filter(pk=row.pk).exists()


def test_a_copy_of_a_row_that_is_gone_is_another_row(ada: Client, ben: Client) -> None:
    row = a_response()
    opened = ada.get(address(m.CeResponse, "change", row.pk))
    delete(ben, row)

    response = send_again(ada, opened, _saveasnew="1", exact_text="A copy.", _confirm="1")
    if response.status_code == 200:
        send_again(ada, response, _saveasnew="1", _confirm="1")

    assert m.CeResponse.objects.get(exact_text="A copy.").pk != row.pk


def test_when_it_was_made_again_by_the_other_both_meet(ada: Client, ben: Client) -> None:
    row = a_response()
    url = address(m.CeResponse, "change", row.pk)
    opened = [client.get(url) for client in (ada, ben)]
    with change_set():
        m.CeResponse.objects.filter(pk=row.pk).delete()
    held = [
        send_again(client, page, exact_text=f"{name}.")
        for client, page, name in zip((ada, ben), opened, ("Ada", "Ben"), strict=True)
    ]

    assert send_again(ben, held[1], _again="1").status_code == 302
    refused = send_again(ada, held[0], _again="1")

    assert [side.merge.outcome for side in form_of(refused).meeting.sides] == ["choose"]
    assert m.CeResponse.objects.get(pk=row.pk).exact_text == "Ben."


@pytest.mark.parametrize("key", ["4711", "nonsense"])
def test_a_row_that_never_was_is_not_made(key: str, ada: Client) -> None:
    before = newest().pk

    response = ada.post(address(m.CeResponse, "change", key), {"exact_text": "x", "reason": "x", "_again": "1"})

    assert response.status_code == 302
    assert newest().pk == before


def test_a_row_that_is_gone_is_not_made_by_who_may_not_add(somebody: Any) -> None:
    row = a_response()
    with change_set():
        m.CeResponse.objects.filter(pk=row.pk).delete()
    quinn = somebody("quinn", "qa")

    assert quinn.post(address(m.CeResponse, "change", row.pk), {"exact_text": "x", "_again": "1"}).status_code == 403


def test_a_form_opened_and_sent_unchanged_is_told_too(ada: Client, ben: Client) -> None:
    row = a_response()
    url = address(m.CeResponse, "change", row.pk)
    opened = ada.get(url)
    delete(ben, row)

    assert "deleted Answer" in send_again(ada, opened).content.decode()
    assert fill(ada, address(m.CeResponse, "add"), exact_text="").status_code == 200
