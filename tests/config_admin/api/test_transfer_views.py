"""Bundles out of and into the API: judged first, made as one release or not at all."""

import json
from base64 import b64encode
from typing import Any

import pytest

from config_admin.models import CeConfig, CePolicy, CeRelease
from config_admin.releases import head
from config_admin.transfer.files import export_configuration
from tests.api import Caller, make_key
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db
POLICY = {"policy_id": 7, "rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}


@pytest.fixture
def caller() -> Caller:
    return Caller(make_key(scopes=["config"]))


def send(caller: Caller, **body: Any) -> Any:
    headers = {"Authorization": f"Api-Key {caller.secret}"}
    return caller.client.post("/api/v1/config/import", json.dumps(body), "application/json", headers=headers)


def fetch(caller: Caller, query: str = "") -> Any:
    return caller.client.get(f"/api/v1/config/bundle{query}", headers={"Authorization": f"Api-Key {caller.secret}"})


def test_what_goes_out_are_the_bytes_of_the_bundle(caller: Caller) -> None:
    make(CePolicy, policy_id=3)
    assert fetch(caller).content == export_configuration(form="json")
    assert list(fetch(caller, "?table=ce_policy&table=ce_intent").json()["tables"]) == ["ce_intent", "ce_policy"]
    assert fetch(caller, f"?release={head.newest() - 1}&table=ce_policy").json()["tables"]["ce_policy"] == []
    assert (fetch(caller, "?release=999").status_code, fetch(caller, "?release=x").status_code) == (404, 400)
    assert fetch(caller, "?table=ce_none").status_code == 404


def test_nothing_is_changed_unless_it_is_said(caller: Caller) -> None:
    version = head.newest()
    response = send(caller, bundle={"ce_policy": [POLICY]})
    assert response.status_code == 200
    assert (response.json()["applied"], response.json()["refused"]) == (False, False)
    assert [row["policy_id"] for row in response.json()["diff"]["ce_policy"]["added"]] == [7]
    assert head.newest() == version

    response = send(caller, bundle={"ce_policy": [POLICY]}, apply=True, reason="moved").json()
    release = CeRelease.objects.get(pk=response["release"])
    assert (release.author, release.reason, release.origin) == ("API key test", "moved", "IMPORT")
    assert send(caller, bundle=json.loads(fetch(caller).content), apply=True).json()["release"] is None


def test_tables_go_out_and_come_in_as_spreadsheets(caller: Caller) -> None:
    make(CePolicy, policy_id=3, description="Cards.")
    for form, name in (("csv", "ce_policy.csv"), ("xlsx", "some.xlsx")):
        data = fetch(caller, f"?form={form}&table=ce_policy").content
        CePolicy.objects.update(description="None.")
        response = send(caller, file={"name": name, "base64": b64encode(data).decode()}, apply=True, overwrite=True)
        assert (response.status_code, response.json()["applied"]) == (200, True)
        assert CePolicy.objects.get().description == "Cards."
    assert (fetch(caller, "?form=csv").status_code, fetch(caller, "?form=pdf").status_code) == (400, 400)
    assert "not a workbook" in str(send(caller, file={"name": "x.xlsx", "base64": "AAAA"}).json())
    assert "base64" in str(send(caller, file={"name": "x.xlsx", "base64": "*"}).json())


def test_a_refused_row_refuses_all(caller: Caller) -> None:
    rows = [POLICY, {**POLICY, "policy_id": 8, "rule_type": "X"}]
    response = send(caller, bundle={"ce_policy": rows}, apply=True)
    assert response.status_code == 422
    [finding] = response.json()["findings"]
    assert (finding["where"], finding["field"], finding["code"]) == ("Policies, row 2", "rule_type", "RULE_TYPE")
    assert not CePolicy.objects.exists()
    response = send(caller, bundle={"ce_policy": rows}, apply=True, rest=True)
    assert (response.status_code, len(response.json()["leftOut"]), CePolicy.objects.count()) == (200, 1, 1)


def test_seeds_come_in_the_same_way(caller: Caller) -> None:
    sql = "INSERT INTO ce_policy (rule_type, pattern, response_text) VALUES ('regex', 'iban', 'No.');"
    body = send(caller, sql=sql, apply=True).json()
    assert body["mode"] == "add"
    assert body["notes"] == [{"where": "line 1 (Policies)", "text": "rule_type: 'regex' is read as 'REGEX'."}]
    assert CePolicy.objects.get().pattern == "iban"


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({}, "bundle", "Send one of bundle, sql and file"),
        ({"bundle": {}, "sql": "x"}, "bundle", "Send one of"),
        ({"bundle": []}, "bundle", "this is not a configuration"),
        ({"bundle": {"ce_x": []}}, "bundle", "ce_x: is not a table"),
        ({"bundle": {}, "mode": "all"}, "mode", "not a valid choice"),
        ({"sql": "INSERT INTO 'a"}, "sql", "not valid SQL"),
    ],
)
def test_what_is_no_file_is_named(caller: Caller, body: dict[str, Any], field: str, message: str) -> None:
    response = send(caller, **body)
    assert response.status_code == 400
    assert message in str(response.json()["fields"][field])


def test_only_keys_of_the_scope_may(settings: Any) -> None:
    other = Caller(make_key(scopes=["turns"]))
    assert (send(other, bundle={}).status_code, fetch(other).status_code) == (403, 403)
    settings.CONVENGINE = {**getattr(settings, "CONVENGINE", {}), "MAX_IMPORT_BYTES": 50}
    assert send(Caller(make_key(scopes=["config"])), bundle={"ce_policy": [POLICY]}).status_code == 413


@pytest.mark.django_db(transaction=True)
def test_callers_who_ask_for_lines_are_told_how_far_it_is(caller: Caller) -> None:
    headers = {"Authorization": f"Api-Key {caller.secret}", "Accept": "application/x-ndjson"}

    def lines(**body: Any) -> list[dict[str, Any]]:
        response = caller.client.post("/api/v1/config/import", json.dumps(body), "application/json", headers=headers)
        return [json.loads(line) for line in response.getvalue().splitlines()]

    progress_lines = lines(bundle={"ce_policy": [POLICY]}, apply=True)
    assert progress_lines[0] == {"progress": {"stage": "read", "done": 1, "of": 1}}
    assert (progress_lines[-1]["status"], progress_lines[-1]["result"]["applied"]) == (200, True)
    progress_lines = lines(bundle={"ce_policy": [{**POLICY, "rule_type": "X"}]}, apply=True)
    assert (progress_lines[-1]["status"], progress_lines[-1]["result"]["refused"]) == (422, True)
    CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")
    progress_lines = lines(bundle={"ce_policy": [{**POLICY, "pattern": "cvc"}]}, apply=True)
    assert (progress_lines[-1]["status"], progress_lines[-1]["result"]["errorCode"]) == (409, "DRAFT_REQUIRED")


def test_where_changes_are_reviewed_an_import_needs_a_draft(caller: Caller) -> None:
    CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="REVIEWED")
    version = head.newest()
    assert send(caller, bundle={"ce_policy": [POLICY]}).status_code == 200
    response = send(caller, bundle={"ce_policy": [POLICY]}, apply=True)
    assert (response.status_code, response.json()["errorCode"]) == (409, "DRAFT_REQUIRED")
    assert (head.newest(), CePolicy.objects.count()) == (version, 0)
