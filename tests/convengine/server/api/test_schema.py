"""The API against its own description."""

import uuid
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.checks import positive_data_acceptance

from config_admin.models import CeResponse
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
#: No list of parameters can say that two of them go together, or that a text must have a word in it.
BESIDE: Any = {"/api/v1/audit/turns": [positive_data_acceptance]}
FOR_REAL = pytest.mark.django_db(transaction=True)


@FOR_REAL
def test_every_answer_fits_the_description(live_server: Any) -> None:
    create_help_desk()
    headers = {"Authorization": f"Api-Key {make_key()}"}
    schema = schemathesis.openapi.from_url(f"{live_server.url}/api/schema/?format=json")
    operations = [operation.ok() for operation in schema.include(path_regex="^/api/v1/").get_all_operations()]

    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=15, derandomize=True, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            # Two examples of one key with two bodies are refused, as they should be.
            if "Idempotency-Key" in (case.headers or {}):
                case.headers["Idempotency-Key"] = str(uuid.uuid4())
            # What may be preferred is what is installed, which no schema says.
            if isinstance(case.body, dict):
                case.body.pop("preferences", None)
            case.call_and_validate(headers=headers, excluded_checks=BESIDE.get(case.path, []))

        check()

    assert len(operations) >= 4


@pytest.mark.django_db
def test_what_is_read_of_a_real_conversation_fits_the_description() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours", inputParams={"vip": True})
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")
    document = caller.client.get("/api/schema/?format=json").json()
    mine = "conversation/{conversation_id}"
    audit = "conversation/audit/{conversation_id}"
    queries = {mine: "", f"{mine}/turns": "?limit=1", f"{mine}/turns/{{turn_no}}/trace": "", audit: "?expand=meta"}
    queries |= {f"{audit}/trace": "", f"{audit}/why": "?turn=1", f"{audit}/account": "?turn=1"}

    for path, query in {**queries, "audit/turns": "", "audit/stages": ""}.items():
        answer = caller.client.get(
            f"/api/v1/{path.format(conversation_id=caller.conversation_id, turn_no=2)}{query}",
            headers={"Authorization": f"Api-Key {caller.secret}"},
        )
        response = document["paths"][f"/api/v1/{path}"]["get"]["responses"][str(answer.status_code)]
        schema = response["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": document["components"]}).validate(answer.json())
        assert answer.status_code == 200


@pytest.mark.django_db
def test_the_description_names_what_an_integrator_needs() -> None:
    document = Caller("none").client.get("/api/schema/?format=json").json()

    turn = document["paths"]["/api/v1/conversation/message"]["post"]
    assert document["openapi"] == "3.1.1"
    assert {p["name"] for p in turn["parameters"]} == {"Idempotency-Key", "X-ConvEngine-Compat", "include"}
    assert set(turn["responses"]) >= {"200", "400", "401", "404", "409", "413", "422", "429", "500"}


@pytest.mark.django_db
def test_the_page_of_the_description_comes_from_this_host() -> None:
    page = Caller("none").client.get("/api/docs/").content.decode()

    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page
