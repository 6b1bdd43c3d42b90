"""Flow documents over the API: the same rows as the page and the command."""

import json
from typing import Any

import pytest

from config_admin.flows.mapping import normalise_flow, write_rows
from config_admin.flows.reading import read_flow
from config_admin.models import CeIntentClassifier, CeRelease, CeResponse
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from tests.api import Caller, make_key
from tests.config_admin.flows.test_reading import FULL

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    return Caller(make_key(scopes=["config"]))


def call(caller: Caller, method: str, path: str = "", **body: Any) -> Any:
    send = getattr(caller.client, method)
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    content = (json.dumps(body), "application/json") if body else ()
    return send(f"/api/v1/config/flows{path}", *content, headers=headers)


def test_a_flow_is_created_read_and_updated(caller: Caller) -> None:
    created = call(caller, "post", flow=FULL, reason="we take bookings")
    assert created.status_code == 201, created.json()
    release = CeRelease.objects.get(pk=created.json()["release"])
    assert (release.author, release.reason) == ("API key test", "we take bookings")
    assert call(caller, "get").json()["flows"] == [
        {"code": "BOOKING", "title": "Book a table", "kind": "collect", "enabled": True}
    ]

    stored = call(caller, "get", "/BOOKING").json()
    assert (stored["flow"], stored["otherRows"]) == (normalise_flow(FULL), [])

    changed = call(caller, "put", "/booking", flow={**stored["flow"], "answer": "See you."}).json()
    assert list(changed["diff"]) == ["ce_response"]
    assert CeResponse.objects.get(intent_code="BOOKING", state_code="DONE").exact_text == "See you."
    assert call(caller, "put", "/BOOKING", flow={**FULL, "answer": "See you."}).json()["release"] is None


def test_the_rows_are_those_of_the_document(caller: Caller) -> None:
    call(caller, "post", flow=FULL)
    reading = read_flow(snapshots.current(), "BOOKING")
    assert reading is not None
    assert write_rows(reading.document) == write_rows(FULL)


def test_rows_beyond_the_document_are_named(caller: Caller) -> None:
    call(caller, "post", flow=FULL)
    with change_set():
        hand = CeIntentClassifier.objects.create(
            intent_code="BOOKING", state_code="COLLECT", rule_type="REGEX", pattern="(?i)table", priority=1
        )
    others = call(caller, "get", "/BOOKING").json()["otherRows"]
    assert others == [{"table": "ce_intent_classifier", "row": hand.pk}]


def test_what_is_wrong_is_refused_with_its_place(caller: Caller) -> None:
    refused = call(caller, "post", flow={**FULL, "kind": "none"})
    assert refused.status_code == 400
    assert "kind: " in str(refused.json())
    assert call(caller, "put", "/BOOKING", flow=FULL).status_code == 404
    assert call(caller, "get", "/BOOKING").status_code == 404
    call(caller, "post", flow=FULL)
    assert call(caller, "post", flow={**FULL, "answer": "See you."}).status_code == 400
    assert call(caller, "put", "/BOOKING", flow={**FULL, "code": "OTHER"}).status_code == 400
    assert call(caller, "put", "/BOOKING", flow={**FULL, "answer": "{{ }}"}).status_code == 422


def test_a_key_without_the_scope_may_not(caller: Caller) -> None:
    stranger = Caller(make_key(scopes=["turn"]))
    assert [call(stranger, "get").status_code, call(stranger, "post", flow=FULL).status_code] == [403, 403]
