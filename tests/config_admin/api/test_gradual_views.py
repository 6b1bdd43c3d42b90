"""The gradual release over the API."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.publish_draft import publish_draft
from config_admin.releases.audience import AudienceSpec
from config_admin.releases.change_set import change_set
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    draft = m.CeDraft.objects.create(title="Late hours")
    with open_draft(draft.pk, None, writing=True), change_set():
        m.CeResponse.objects.filter(intent_code="HOURS").update(exact_text="Late.")
    publish_draft(draft.pk, "ada", audience=AudienceSpec(share=10))
    return Caller(make_key(scopes=["config"]))


def send(caller: Caller, method: str, path: str = "", body: Any = None) -> Any:
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    url = f"/api/v1/config/gradual{path}"
    return getattr(caller.client, method)(url, body, content_type="application/json", headers=headers)


def test_it_is_read_widened_and_stopped(caller: Caller) -> None:
    assert send(caller, "get").json()["share"] == 10
    wider = send(caller, "put", body={"share": 60, "guard": {"metric": "ERRORS"}}).json()
    assert (wider["share"], wider["guard"]["metric"], wider["guard"]["turns"]) == (60, "ERRORS", 100)
    stopped = send(caller, "post", "/stop", {"reason": "no"}).json()
    assert (stopped["status"], stopped["endedReason"]) == ("STOPPED", "no")
    assert [send(caller, *call).status_code for call in (("get",), ("post", "/stop", {}), ("post", "/all"))] == [
        404
    ] * 3


def test_it_is_given_to_all(caller: Caller) -> None:
    assert send(caller, "post", "/all").json()["status"] == "COMPLETE"


def test_nobody_is_no_audience(caller: Caller) -> None:
    answer = send(caller, "put", body={"share": 0})
    assert (answer.status_code, "Nobody" in answer.content.decode()) == (400, True)
