"""Entity tags of the configuration's endpoints, and writes that find a change in between."""

from typing import Any

import pytest

from config_admin.models import CeIntent, CePolicy
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller(make_key(scopes=["config"]))


def read(caller: Caller, path: str = "", tag: str = "") -> Any:
    headers = {"Authorization": f"Api-Key {caller.secret}", **({"If-None-Match": tag} if tag else {})}
    return caller.client.get(f"/api/v1/config{path}", headers=headers)


def rename(caller: Caller, tag: str) -> Any:
    return caller.client.post(
        "/api/v1/config/topics/HOURS/rename",
        {"title": "Opening hours"},
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}", "If-Match": tag},
    )


@pytest.mark.parametrize(
    "path", ["", "/ce_intent", "/topics", "/topics/HOURS", "/topics/HOURS/export", "/bundle", "/flows"]
)
def test_what_did_not_change_is_not_sent_again(caller: Caller, path: str) -> None:
    first = read(caller, path)

    again = read(caller, path, first.headers["ETag"])

    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]


def test_a_changed_row_is_sent(caller: Caller) -> None:
    tag = read(caller, "/ce_intent").headers["ETag"]
    CeIntent.objects.filter(intent_code="HOURS").update(description="changed")

    assert read(caller, "/ce_intent", tag).status_code == 200


def test_a_write_on_what_was_read_is_stored(caller: Caller) -> None:
    assert rename(caller, read(caller, "/topics/HOURS").headers["ETag"]).status_code == 200


def test_a_change_of_something_else_does_not_stop_it(caller: Caller) -> None:
    tag = read(caller, "/topics/HOURS").headers["ETag"]
    CePolicy.objects.create(rule_type="EXACT", pattern="x", response_text="No.")

    assert rename(caller, tag).status_code == 200


def test_a_write_on_what_changed_since_is_refused(caller: Caller) -> None:
    tag = read(caller, "/topics/HOURS").headers["ETag"]
    CeIntent.objects.filter(intent_code="HOURS").update(description="changed")

    refused = rename(caller, tag)

    assert (refused.status_code, refused.json()["errorCode"]) == (412, "PRECONDITION_FAILED")
    assert CeIntent.objects.get(intent_code="HOURS").description == "changed"


@pytest.mark.parametrize(("tag", "status"), [('"999999"', 412), ("yesterday", 400)])
def test_a_tag_of_no_release_is_refused(caller: Caller, tag: str, status: int) -> None:
    assert rename(caller, tag).status_code == status
