"""The stage catalogue by the API."""

import pytest

from convengine.engine.stages import STAGES
from tests.api import Caller, make_key

pytestmark = pytest.mark.django_db


def test_every_stage_is_told_with_what_settings_make_of_it() -> None:
    caller = Caller()
    told = caller.client.get("/api/v1/audit/stages", headers={"Authorization": f"Api-Key {caller.secret}"}).json()
    by_name = {one["stage"]: one for one in told["stages"]}

    assert list(by_name) == list(STAGES.values())
    assert all(one["description"] and one["storedAs"][0] == name for name, one in by_name.items())
    assert by_name["STEP_ERROR"] == {
        "stage": "STEP_ERROR",
        "label": "Step error",
        "family": "FRAME",
        "description": "A step failed, and the turn with it: which step, and with what.",
        "steps": [],
        "payload": ["step", "stepClass", "durationMs", "errorType", "errorMessage", "_errorMeta"],
        "freePayload": False,
        "storedAs": ["STEP_ERROR"],
        "error": True,
        "alwaysRecorded": True,
        "wholeMeta": True,
    }
    assert "RULE_MATCH (RulesStep)" in by_name["RULE_MATCH"]["storedAs"]
    assert not by_name["RULE_MATCH"]["alwaysRecorded"]
    assert by_name["USER_INPUT"]["steps"] == ["AuditUserInputStep"]
    assert by_name["CONTAINER_DATA_ATTACHED"]["freePayload"]


def test_the_catalogue_is_for_keys_with_the_scope_of_the_audit() -> None:
    caller = Caller(make_key(scopes=["turns"]))
    answer = caller.client.get("/api/v1/audit/stages", headers={"Authorization": f"Api-Key {caller.secret}"})

    assert answer.status_code == 403
    assert caller.client.get("/api/v1/audit/stages").status_code == 401
