"""What if through the API: start, look, read the turns, cancel; and what is refused."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from audit.models import CeWhatIf
from audit.what_if.jobs import what_ifs
from config_admin.drafts.models import CeDraft, CeDraftEdit
from config_admin.drafts.publish_draft import discard_draft
from config_admin.models import CeResponse
from config_admin.releases.content import content_of
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller(make_key(scopes=["turns", "audit", "config"]))
    for text in ("hours", "fees", "hours"):
        caller.say(text)
    return caller


@pytest.fixture
def draft(caller: Caller) -> str:
    draft = CeDraft.objects.create(title="Dearer")
    row = CeResponse.objects.get(intent_code="FEES")
    before = content_of(row)
    after = {**before, "exact_text": "Ten."}
    CeDraftEdit.objects.create(draft=draft, table_name="ce_response", row_pk=str(row.pk), before=before, after=after)
    return f"draft:{draft.pk}"


def call(caller: Caller, method: str, path: str = "", secret: str = "", **body: Any) -> Any:
    send = getattr(caller.client, method)
    given = {"data": body} if method == "get" else {"data": body, "content_type": "application/json"}
    return send(f"/api/v1/what-if{path}", headers={"Authorization": f"Api-Key {secret or caller.secret}"}, **given)


def test_a_run_is_started_and_read(caller: Caller, draft: str) -> None:
    response = call(caller, "post", configuration=draft, last=10, filters={"intent": "FEES"})
    assert response.status_code == 202
    key = response.json()["id"]
    assert response.headers["Location"] == f"/api/v1/what-if/{key}"
    assert (response.json()["status"], response.json()["turns"]) == ("PENDING", None)
    what_ifs.run(uuid.UUID(key))

    run = call(caller, "get", f"/{key}").json()

    assert (run["status"], run["turns"], run["done"], run["differing"]) == ("DONE", 3, 3, 1)
    assert [(group["kind"], group["count"]) for group in run["groups"]] == [("ANSWER", 1)]
    (cause,) = run["groups"][0]["causes"]
    turns = call(caller, "get", f"/{key}/turns", kind="ANSWER", table=cause["table"], row=cause["row"]).json()
    (turn,) = turns["results"]
    assert turns["next"] is None
    assert (turn["turnNo"], turn["message"]) == (2, "fees")
    assert (turn["old"]["answer"], turn["new"]["answer"]) == ("No fees.", "Ten.")
    assert len(call(caller, "get", f"/{key}/turns").json()["results"]) == 1


def test_a_run_is_cancelled_and_one_at_a_time(caller: Caller, draft: str) -> None:
    key = call(caller, "post", configuration=draft).json()["id"]

    busy = call(caller, "post", configuration=draft)

    assert (busy.status_code, busy.json()["errorCode"]) == (429, "REPLAY_BUSY")
    assert call(caller, "post", f"/{key}/cancel").json()["status"] == "CANCELLED"
    assert call(caller, "post", configuration=draft).status_code == 202


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"configuration": "draft:999999"}, "configuration"),
        ({"configuration": "yesterday"}, "configuration"),
        ({}, "configuration"),
        ({"configuration": "live", "last": 0}, "last"),
        ({"configuration": "live", "comparedWith": "NOTHING"}, "comparedWith"),
        ({"configuration": "live", "filters": {"since": "tomorrow"}}, "since"),
        ({"configuration": "live", "filters": {"feedback": "SO_SO"}}, "feedback"),
        ({"configuration": "live", "unknown": 1}, "unknown"),
    ],
)
def test_what_is_wrong_is_named(caller: Caller, body: dict[str, Any], field: str) -> None:
    response = call(caller, "post", **body)

    assert response.status_code == 400
    assert field in str(response.json())
    assert not CeWhatIf.objects.exists()


def test_runs_of_other_workspaces_do_not_exist(caller: Caller, draft: str) -> None:
    key = call(caller, "post", configuration=draft).json()["id"]
    other = make_key("elsewhere", scopes=["audit"])

    for path in (f"/{key}", f"/{key}/turns"):
        assert call(caller, "get", path, other).status_code == 404
    assert call(caller, "post", f"/{key}/cancel", other).status_code == 404
    assert call(caller, "get", f"/{uuid.uuid4()}").status_code == 404
    assert call(caller, "get", "/x").status_code == 400
    assert call(caller, "get", f"/{key}", make_key(scopes=["turns"])).status_code == 403
    assert "scope config" in call(caller, "get", f"/{key}", make_key(scopes=["audit"])).content.decode()


def test_turns_of_a_draft_that_ended_are_refused(caller: Caller, draft: str) -> None:
    key = call(caller, "post", configuration=draft).json()["id"]
    discard_draft(int(draft.partition(":")[2]))

    assert call(caller, "get", f"/{key}/turns").status_code == 400
    assert call(caller, "get", f"/{key}/turns", kind="X").status_code == 400
    assert call(caller, "get", f"/{key}/turns", page="0").status_code == 400
    assert call(caller, "get", f"/{key}").status_code == 200


def test_somebody_who_may_not_read_drafts_runs_none_and_reads_no_run_of_one(caller: Caller, draft: str) -> None:
    key = call(caller, "post", configuration=draft).json()["id"]
    user = User.objects.create_user("rea", is_staff=True)
    rights = ("view_ceaudit", "view_ceconversationhistory")
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client = Client()
    client.force_login(user)

    def read_statuses() -> list[int]:
        sent = {"configuration": draft}
        started = client.post("/api/v1/what-if", sent, content_type="application/json")
        return [started.status_code, *(client.get(f"/api/v1/what-if/{key}{end}").status_code for end in ("", "/turns"))]

    assert read_statuses() == [403, 403, 403]
    user.user_permissions.add(Permission.objects.get(codename="view_cedraft"))
    assert read_statuses()[:2] == [202, 200]
