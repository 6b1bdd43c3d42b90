"""Tests over the API: imported, run, read and cancelled."""

import json
from typing import Any

import pytest
from django.test import Client

from config_admin.test_cases.models import CeTestRun
from config_admin.test_cases.runs import test_runs
from tests.api import make_key
from tests.config_admin.test_cases.builders import make_test
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def secret() -> str:
    create_help_desk()
    return str(make_key(scopes=["config"]))


def call(secret: str, method: str, path: str, **body: Any) -> Any:
    content = (json.dumps(body), "application/json") if method == "post" else ()
    headers = {"Authorization": f"Api-Key {secret}"}
    return getattr(Client(), method)(f"/api/v1/config/{path}", *content, headers=headers)


def test_tests_are_imported_and_listed(secret: str) -> None:
    good = {"id": "hours", "title": "Hours", "covers": ["smoke"], "turns": [{"user": "hours"}]}
    bad = {"id": "rows", "title": "Rows", "tables": {"ce_intent": [{"intent_code": "A"}]}, "turns": [{"user": "x"}]}
    answer = call(secret, "post", "tests", tests=[good, bad], folder="desk").json()
    assert (answer["added"], answer["refused"][0]["id"]) == (["hours"], "rows")
    assert call(secret, "post", "tests", tests=[good]).json() == {"added": [], "changed": [], "refused": []}
    better = {**good, "why": "Asked daily"}
    assert call(secret, "post", "tests", tests=[better]).json()["changed"] == ["hours"]
    (listed,) = call(secret, "get", "tests?tag=smoke").json()["tests"]
    assert (listed["id"], listed["folder"], listed["tags"]) == ("hours", "desk", ["smoke"])
    assert call(secret, "get", "tests?after=x").status_code == 400


@pytest.mark.django_db(transaction=True)
def test_a_run_is_started_and_read(secret: str) -> None:
    make_test("Hours")
    make_test("Fees", {"user": "fees", "expect": {"intent": "HOURS"}})
    started = call(secret, "post", "test-runs", configuration="live")
    assert started.status_code == 202
    test_runs.queue.finish()
    run = call(secret, "get", f"test-runs/{started.json()['run']}").json()
    assert (run["status"], run["passed"], run["failed"]) == ("DONE", 1, 1)
    assert run["results"][0]["failures"][0]["got"] == "FEES"
    assert len(call(secret, "get", f"test-runs/{run['run']}?all=true").json()["results"]) == 2


def test_a_run_is_cancelled_and_what_does_not_exist_is_named(secret: str) -> None:
    run = call(secret, "post", "test-runs").json()["run"]
    assert call(secret, "delete", f"test-runs/{run}").json()["status"] == "CANCELLED"
    assert CeTestRun.objects.get(pk=run).finished_at
    assert call(secret, "get", "test-runs/999").status_code == 404
    assert call(secret, "post", "test-runs", configuration="draft:99").status_code == 400
