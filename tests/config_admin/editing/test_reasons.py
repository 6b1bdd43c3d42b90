"""Why: asked for at every change, and offered again while the same person works on one thing."""

from typing import Any

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest
from django.test import Client, RequestFactory

from config_admin import models as m
from config_admin.editing import reasons
from config_admin.editing.request_change_set import record_request
from config_admin.releases.change_set import change_set
from tests.config_admin.admin.pages import a_response, address, fill, form_of, newest
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
RULE = {"phase": "POST_SCHEMA_EXTRACTION", "rule_type": "EXACT", "match_pattern": "ANY", "action": "SET_STATE"}


@pytest.fixture
def loan() -> m.CeResponse:
    with change_set():
        for code in ("LOAN", "MOVE"):
            make(m.CeIntent, intent_code=code)
        row: m.CeResponse = make(m.CeResponse, state_code="ANY")
    return row


def read_offered_reason(client: Client, url: str) -> str:
    return str(form_of(client.get(url))["reason"].value() or "")


def test_what_concerns_the_same_intent_is_offered_the_last_reason(ada: Client, loan: m.CeResponse) -> None:
    fill(ada, address(m.CeResponse, "change", loan.pk), exact_text="How much, please?", reason="Ticket 17")

    assert read_offered_reason(ada, address(m.CeIntent, "change", "LOAN")) == "Ticket 17"
    assert read_offered_reason(ada, f"{address(m.CeRule, 'add')}?intent_code=LOAN") == "Ticket 17"
    assert read_offered_reason(ada, address(m.CeIntent, "change", "MOVE")) == ""


def test_a_reason_of_another_person_or_of_long_ago_is_not_offered(
    ada: Client, ben: Client, loan: m.CeResponse, monkeypatch: Any
) -> None:
    url = address(m.CeResponse, "change", loan.pk)
    fill(ada, url, exact_text="How much, please?", reason="Ticket 17")

    assert read_offered_reason(ben, url) == ""
    monkeypatch.setattr(reasons, "OFFERED", 0)
    assert read_offered_reason(ada, url) == ""


def test_only_the_things_of_late_are_remembered(ada: Client, loan: m.CeResponse, monkeypatch: Any) -> None:
    monkeypatch.setattr(reasons, "MAX_SUBJECTS", 1)
    other = a_response()
    fill(ada, address(m.CeResponse, "change", loan.pk), exact_text="How much, please?", reason="Ticket 17")
    fill(ada, address(m.CeResponse, "change", other.pk), exact_text="Hello.", reason="Ticket 18")

    assert read_offered_reason(ada, address(m.CeResponse, "change", other.pk)) == "Ticket 18"
    assert read_offered_reason(ada, address(m.CeResponse, "change", loan.pk)) == ""


@pytest.mark.parametrize("blank", ["", "   "])
def test_deleting_asks_for_a_reason(blank: str, ada: Client) -> None:
    row = a_response()

    page = ada.post(address(m.CeResponse, "delete", row.pk), {"post": "yes", "reason": blank})

    assert m.CeResponse.objects.filter(pk=row.pk).exists()
    assert page.context["reason_missing"] == reasons.MISSING


@pytest.mark.parametrize("action", ["delete_selected", "disable_selected"])
def test_actions_of_lists_ask_for_a_reason_and_then_remember_it(action: str, ada: Client) -> None:
    row = a_response()
    sent = {"action": action, ACTION_CHECKBOX_NAME: [row.pk], "post": "yes", "confirmed": "1"}

    page = ada.post(address(m.CeResponse), sent | {"reason": ""})
    assert page.context["reason_missing"] == reasons.MISSING
    assert m.CeResponse.objects.filter(pk=row.pk, enabled=True).exists()

    ada.post(address(m.CeResponse), sent | {"reason": "Not said any more"})
    assert not m.CeResponse.objects.filter(pk=row.pk, enabled=True).exists()
    assert newest().reason == "Not said any more"
    other = a_response()
    response = ada.post(address(m.CeResponse), {"action": action, ACTION_CHECKBOX_NAME: [other.pk]})
    assert response.context["reason"] == "Not said any more"


def test_rolling_back_asks_for_a_reason_and_offers_one(ada: Client) -> None:
    first = newest().pk
    a_response()
    url = f"{address(m.CeRelease)}{first}/roll-back/"

    page = ada.post(url, {"reason": ""})

    assert (page.context["reason"], page.context["reason_missing"]) == (
        f"Roll back to release {first}",
        reasons.MISSING,
    )
    assert newest().pk != first
    assert newest().origin != "ROLLBACK"


def test_a_page_that_forgets_to_ask_changes_nothing(ada: Client) -> None:
    row, before = a_response(), newest().pk
    request: Any = RequestFactory().post("/", {})
    request.user = m.CeResponse.history.model.history_user.field.related_model.objects.get(username="ada")

    with pytest.raises(BadRequest), record_request(request):
        m.CeResponse.objects.filter(pk=row.pk).update(priority=3)

    row.refresh_from_db()
    assert (row.priority, newest().pk) == (100, before)
