"""Topics over the API: the same changes as the pages make."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from config_admin import models as m
from config_admin.transfer.apply_import import import_document
from config_admin.transfer.files import read_bytes
from tests.api import Caller, make_key
from tests.config_admin.admin.pages import newest
from tests.config_admin.flows.topics.builders import make_references, make_topic

pytestmark = pytest.mark.django_db
NAMES = {"code": "CREDIT", "title": "Credit"}


@pytest.fixture
def caller() -> Caller:
    return Caller(make_key(scopes=["config"]))


def call(caller: Caller, method: str, path: str = "", **body: Any) -> Any:
    content = (json.dumps(body), "application/json") if method != "get" else ()
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    return getattr(caller.client, method)(f"/api/v1/config/topics{path}", *content, headers=headers)


def read_rows(caller: Caller, intent: str) -> tuple[Any, ...]:
    """The rows of the topic without their numbers, and the conditions of all rules."""
    exported = re.sub(r"(\w+_id|step_value): \d+", "", call(caller, "get", f"/{intent}/export").content.decode())
    return exported, *m.CeRule.objects.order_by("match_pattern").values_list("match_pattern")


def test_topics_are_listed_and_read_with_what_depends_on_them(caller: Caller) -> None:
    rows, others = make_topic(display_name="Loan"), make_references()

    assert {"code": "LOAN", "title": "Loan", "enabled": True} in call(caller, "get").json()["topics"]
    topic = call(caller, "get", "/loan").json()
    assert {"table": "ce_rule", "row": rows["rule"].pk} in topic["rows"]
    assert [key["row"] for key in topic["references"]] == [others["switches"].pk, others["compares"].pk]
    assert call(caller, "get", "/NONE").status_code == 404


@pytest.mark.parametrize(
    ("name", "target", "body", "undo"),
    [
        pytest.param("rename", "CREDIT", NAMES, ("post", "/CREDIT/rename", {"code": "LOAN"}), id="rename"),
        pytest.param("duplicate", "CREDIT", NAMES, ("delete", "/CREDIT", {}), id="duplicate"),
        pytest.param(
            "switch", "LOAN", {"enabled": False}, ("post", "/LOAN/switch", {"enabled": True}), id="switch off"
        ),
    ],
)
def test_page_and_api_write_the_same_rows(
    caller: Caller, ben: Client, name: str, target: str, body: dict[str, Any], undo: tuple[str, str, dict[str, Any]]
) -> None:
    make_topic()
    make_references()

    call(caller, "post", f"/LOAN/{name}", **body)
    by_api = read_rows(caller, target)
    method, path, values = undo
    assert call(caller, method, path, **values).status_code == 200
    ben.post(reverse(f"admin:config_admin_ceintent_{name}", args=["LOAN"]), {**NAMES, "reason": "by page"})

    assert read_rows(caller, target) == by_api


def test_a_change_is_one_release_and_a_preview_is_none(caller: Caller) -> None:
    make_topic()
    before = newest().pk

    preview = call(caller, "post", "/LOAN/rename", **NAMES, apply=False).json()
    assert (preview["release"], newest().pk) == (None, before)
    assert set(preview["diff"]) >= {"ce_intent", "ce_rule", "ce_response"}

    stored = call(caller, "post", "/LOAN/rename", **NAMES, reason="a new name").json()
    assert (stored["release"], newest().pk, newest().author, newest().reason) == (
        before + 1, before + 1, "API key test", "a new name",
    )  # fmt: skip
    assert call(caller, "post", "/CREDIT/switch", enabled=True).json()["release"] is None


def test_a_topic_is_exported_deleted_and_imported_again(caller: Caller) -> None:
    make_topic()
    bundle = call(caller, "get", "/LOAN/export").content

    assert call(caller, "delete", "/LOAN", reason="gone").json()["release"] == newest().pk
    assert not m.CeIntent.objects.filter(pk="LOAN").exists()
    import_document(read_bytes("loan.yaml", bundle), author="ada", reason="back")
    assert m.CeIntent.objects.filter(pk="LOAN").exists()


def test_what_is_wrong_is_refused_and_nothing_changes(caller: Caller) -> None:
    make_topic()
    make_references()
    before = newest().pk

    refused = call(caller, "delete", "/LOAN")
    assert (refused.status_code, refused.json()["findings"][0]["code"]) == (422, "IN_USE")
    assert call(caller, "post", "/LOAN/rename", code="not a code").status_code == 400
    assert call(caller, "post", "/LOAN/duplicate", code="LOAN").status_code == 400
    assert call(caller, "post", "/LOAN/switch").status_code == 400
    assert call(caller, "post", "/NONE/switch", enabled=False).status_code == 404
    assert newest().pk == before


def test_a_key_without_the_scope_may_not(caller: Caller) -> None:
    stranger = Caller(make_key(scopes=["turn"]))

    assert call(stranger, "get").status_code == 403
    assert call(stranger, "delete", "/LOAN").status_code == 403
