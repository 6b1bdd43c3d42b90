"""Drafts over the API: the same as on the pages, as the person who made the key."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from config_admin import models as m
from config_admin.releases import head
from convengine.server.api.models import CeApiKey
from tests.api import make_key

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}


def make_person(name: str) -> str:
    """A person with a key; gives its secret."""
    user = User.objects.create_user(name, is_staff=True)
    user.groups.add(Group.objects.get(name="config_admin"), Group.objects.get(name="integrator"))
    return str(CeApiKey.objects.create_key(name=f"of {name}", scopes=["config"], made_by=user)[1])


@pytest.fixture
def ada() -> str:
    return make_person("ada")


def call(secret: str, method: str, path: str = "", **body: Any) -> Any:
    headers = {"Authorization": f"Api-Key {secret}"}
    content = (json.dumps(body), "application/json") if method != "get" else ()
    return getattr(Client(), method)(f"/api/v1/config/{path}", *content, headers=headers)


@pytest.fixture
def draft(ada: str) -> dict[str, Any]:
    created = call(ada, "post", "drafts", title="Cards", description="No cards")
    assert created.status_code == 201
    number = created.json()["id"]
    imported = call(ada, "post", "import", bundle={"ce_policy": [POLICY]}, apply=True, draft=number).json()
    assert (imported["applied"], imported["release"]) == (True, None)
    answer: dict[str, Any] = call(ada, "get", f"drafts/{number}").json()
    return answer


def test_a_draft_is_made_filled_and_read(ada: str, draft: dict[str, Any]) -> None:
    assert (draft["title"], draft["status"], draft["createdBy"], draft["edits"]) == ("Cards", "OPEN", "ada", 1)
    assert [row["policy_id"] for row in draft["diff"]["ce_policy"]["added"]] == [7]
    assert not m.CePolicy.objects.exists()
    (listed,) = call(ada, "get", "drafts").json()["drafts"]
    assert listed == {name: draft[name] for name in listed}
    assert call(ada, "post", "drafts", title="Cards").status_code == 400
    assert call(ada, "get", "drafts/99").status_code == 404


def test_an_empty_draft_says_why_it_is_not_published(ada: str) -> None:
    created = call(ada, "post", "drafts", title="Nothing").json()
    why = ["The draft has no changes yet, so there is nothing to publish."]
    refused = call(ada, "post", f"drafts/{created['id']}/publish", reason="now")

    assert created["problems"] == why
    assert (refused.status_code, refused.json()["problems"]) == (422, why)
    call(ada, "delete", f"drafts/{created['id']}")
    assert call(ada, "get", f"drafts/{created['id']}").json()["problems"] == []


def test_a_draft_is_approved_by_another_person_and_published(ada: str, draft: dict[str, Any]) -> None:
    m.CeConfig.objects.create(config_type="Releases", config_key="APPROVALS", config_value="1")
    bob, before, path = make_person("bob"), head.newest(), f"drafts/{draft['id']}"
    assert call(ada, "post", f"{path}/send", reviewers=["bob"], text="Please").json()["entries"][0]["kind"] == "SENT"
    refused = call(ada, "post", f"{path}/publish")
    assert (refused.status_code, refused.json()["errorCode"]) == (422, "CONFIGURATION_REFUSED")
    assert "1 person must approve" in refused.json()["problems"][0]

    own = call(ada, "post", f"{path}/approve", editsHash=draft["editsHash"])
    assert own.json()["problems"] == ["You edited this draft, so only somebody else can approve it."]
    assert call(bob, "post", f"{path}/comment", text="Why?", table="ce_policy", row="7").status_code == 200
    approved = call(bob, "post", f"{path}/approve", editsHash=draft["editsHash"]).json()
    assert (approved["approvals"], approved["problems"]) == (["bob"], [])

    published = call(ada, "post", f"{path}/publish", reason="agreed").json()
    assert (published["status"], published["release"]) == ("PUBLISHED", head.newest())
    assert m.CeRelease.objects.get(pk=head.newest()).reason == "Cards: agreed (approved by bob)"
    assert head.newest() > before
    assert call(ada, "post", f"{path}/publish").status_code == 404


def test_a_key_of_nobody_approves_nothing(draft: dict[str, Any]) -> None:
    secret = make_key(scopes=["config"])
    answer = call(secret, "post", f"drafts/{draft['id']}/approve", editsHash=draft["editsHash"])
    assert answer.status_code == 422


def test_a_draft_is_returned_for_the_edits_that_were_seen(draft: dict[str, Any]) -> None:
    bob, path = make_person("bob"), f"drafts/{draft['id']}"
    assert call(bob, "post", f"{path}/return", editsHash="0" * 64, text="No").status_code == 422
    returned = call(bob, "post", f"{path}/return", editsHash=draft["editsHash"], text="No").json()
    assert returned["entries"][-1]["kind"] == "RETURNED"


def test_a_draft_is_scheduled_cancelled_and_discarded(ada: str, draft: dict[str, Any]) -> None:
    path = f"drafts/{draft['id']}"
    scheduled = call(ada, "post", f"{path}/schedule", publishAt="2099-12-24T08:00:00Z").json()
    assert (scheduled["schedule"]["status"], scheduled["schedule"]["by"]) == ("WAITING", "ada")
    assert call(ada, "post", f"{path}/schedule", publishAt="2020-12-24T08:00:00Z").status_code == 422
    assert call(ada, "delete", f"{path}/schedule").json()["schedule"] is None
    assert call(ada, "delete", path).json()["status"] == "DISCARDED"


def test_an_import_into_a_draft_that_ended_is_refused(ada: str) -> None:
    answer = call(ada, "post", "import", bundle={"ce_policy": [POLICY]}, apply=True, draft=99)
    assert answer.status_code == 400
    assert not m.CePolicy.objects.exists()
