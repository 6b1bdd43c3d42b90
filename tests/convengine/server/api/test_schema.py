"""The API against its own description."""

import re
import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.core import NOT_SET
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from config_admin.models import CeResponse
from convengine.server.api.models import SCOPES
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
#: No schema can say that two parameters go together, that a text must have a word in it or is signed, or which rows
#: there are.
BESIDE = re.compile("^/api/v1/(audit/turns$|chat/|conversation/t|config/|inbox/|replay$|reports$|sessions|what-if)")
FOR_REAL = pytest.mark.django_db(transaction=True)


#: What holds of any request, also of one that the description forbids.
ALWAYS: Any = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
#: Cases of `make test-api`, of requests that the description allows, and again of others.
CASES = 5_000


@pytest.fixture(autouse=True)
def count_no_wrong_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """One check sends a wrong key with many cases and expects 401; soon it would get 429, which is described, too."""
    monkeypatch.setattr("convengine.server.api.authentication._count_wrong_key", lambda address: None)


@pytest.mark.long
@FOR_REAL
def test_every_answer_fits_the_description(live_server: Any) -> None:
    assert send_cases(live_server.url, 2, GenerationMode.POSITIVE) >= 75


@pytest.mark.nightly
@FOR_REAL
def test_requests_that_the_description_forbids_get_described_answers(live_server: Any) -> None:
    assert send_cases(live_server.url, 1, GenerationMode.NEGATIVE) >= 25


@FOR_REAL
@pytest.mark.nightly
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_ten_thousand_requests_get_described_answers(live_server: Any, mode: GenerationMode) -> None:
    assert send_cases(live_server.url, 180, mode) >= CASES


def send_cases(url: str, examples: int, mode: GenerationMode) -> int:
    """Send requests to every address of the description, the same in each run; gives their number."""
    create_help_desk()
    headers = {"Authorization": f"Api-Key {make_key(scopes=[name for name, _ in SCOPES])}"}
    schema = schemathesis.openapi.from_url(f"{url}/api/schema/?format=json")
    sent, failures = 0, list[Exception]()
    for found in schema.include(path_regex="^/api/v1/").get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=examples, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            nonlocal sent
            # Two examples of one key with two bodies are refused, as they should be.
            if mode is GenerationMode.POSITIVE and "Idempotency-Key" in (case.headers or {}):
                case.headers["Idempotency-Key"] = str(uuid.uuid4())
            # What may be preferred is what is installed, which no schema says.
            if isinstance(case.body, dict):
                case.body.pop("preferences", None)
            preview_writes(case)
            sent += 1
            if mode is GenerationMode.POSITIVE:
                beside = [positive_data_acceptance] if BESIDE.match(case.path) else []
                case.call_and_validate(headers=headers, excluded_checks=beside)
            else:
                case.call_and_validate(headers=headers, checks=ALWAYS)

        # There is nothing wrong to say to an address without parameters.
        try:
            check()
        except Unsatisfiable:
            continue
        except Exception as failure:
            failures.append(failure)
    if failures:
        raise ExceptionGroup("answers that the description does not have", failures)
    return sent


def preview_writes(case: Any) -> None:
    """Have a change of the configuration only previewed: the help desk must outlast an import of nothing."""
    if case.method in ("POST", "DELETE") and case.path.startswith("/api/v1/config/") and "/flows" not in case.path:
        case.query = {**(case.query or {}), "apply": "false"}
        if isinstance(case.body, dict) or case.body is NOT_SET:
            case.body = {**(case.body if isinstance(case.body, dict) else {}), "apply": False}


@pytest.mark.django_db
def test_what_is_read_of_a_real_conversation_fits_the_description() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours", inputParams={"vip": True})
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")
    document = fetch_document()
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
    document = fetch_document()

    turn = document["paths"]["/api/v1/conversation/message"]["post"]
    assert document["openapi"] == "3.1.1"
    assert {p["name"] for p in turn["parameters"]} == {
        "Idempotency-Key",
        "Prefer",
        "X-ConvEngine-Compat",
        "context",
        "include",
    }
    assert set(turn["responses"]) >= {"200", "400", "401", "404", "409", "413", "422", "429", "500"}


@pytest.mark.django_db
def test_the_page_of_the_description_comes_from_this_host() -> None:
    page = Caller("none").client.get("/api/docs/").content.decode()

    assert "http://" not in page.replace("http://testserver", "")
    assert "https://" not in page


@cache
def fetch_document() -> dict[str, Any]:
    """As an integrator gets it."""
    document: dict[str, Any] = Caller("none").client.get("/api/schema/?format=json").json()
    return document


@cache
def read_document() -> dict[str, Any]:
    """What no test changes, and takes a second to make."""
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document


def list_operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def test_calls_are_verbs_with_a_tag_and_a_summary() -> None:
    operations = list_operations(read_document())
    verbs = (
        "approve cancel check close comment create delete discard duplicate export get import list publish record"
        " rename resolve restore return schedule search send"
    )

    for operation in operations:
        verb = re.match("[a-z]+", operation["operationId"])
        assert verb, operation["operationId"]
        assert verb[0] in [*verbs.split(), "stream", "switch", "undo", "update"], operation["operationId"]
        assert operation["tags"] != ["v1"]
        assert 10 < len(operation["summary"]) < 120
    assert len({operation["operationId"] for operation in operations}) == len(operations)


@pytest.mark.django_db
def test_every_call_accepts_the_media_types_of_its_answers() -> None:
    create_help_desk()
    caller = Caller(make_key(scopes=[name for name, _ in SCOPES]))
    refused = []
    for path, operations in read_document()["paths"].items():
        address = re.sub("{.*?}", str(uuid.uuid4()), path)
        for method, operation in operations.items():
            for status, response in operation["responses"].items():
                for kind in response.get("content", {}) if status < "300" else ():
                    headers = {"Authorization": f"Api-Key {caller.secret}", "Accept": kind}
                    if caller.client.generic(method.upper(), address, headers=headers).status_code == 406:
                        refused.append((method, path, kind))

    assert refused == []
    assert caller.client.get("/api/v1/audit/turns", headers={**headers, "Accept": "image/png"}).status_code == 406


def test_no_call_takes_a_field_that_it_does_not_know() -> None:
    """A misspelt field that is passed over does what nobody asked for."""
    document = read_document()
    sent = [operation["requestBody"] for operation in list_operations(document) if "requestBody" in operation]
    names = {body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] for body in sent}

    assert len(names) > 20
    assert [
        name for name in sorted(names) if document["components"]["schemas"][name].get("additionalProperties", True)
    ] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "body", "field", "remedy"),
    [
        ("conversation/message", {"conversation": "x", "message": "hi"}, "conversation", "conversationId"),
        ("conversation/message", {"conversationID": "x", "message": "hi"}, "conversationID", "conversationId"),
        ("sessions/message", {"user_mesage": "hi"}, "user_mesage", "user_message"),
        ("config/drafts", {"titel": "New prices"}, "titel", "title"),
        ("config/gradual/stop", {"reasn": "slow"}, "reasn", "reason"),
        ("config/flows", {"flow": {}, "reasons": "x"}, "reasons", "reason"),
        ("config/test-runs", {"configuraton": "live"}, "configuraton", "configuration"),
    ],
)
def test_a_misspelt_field_is_refused_with_the_name_that_was_meant(
    address: str, body: dict[str, Any], field: str, remedy: str
) -> None:
    headers = {"Authorization": f"Api-Key {make_key(scopes=['turns', 'sessions', 'config'])}"}
    answer = Client().post(f"/api/v1/{address}", body, content_type="application/json", headers=headers)

    assert answer.status_code == 400, answer.content
    assert remedy in str(answer.json()["fields"][field])


@pytest.mark.django_db
@pytest.mark.parametrize("body", ["{}", "[]", "null", '""', "0"])
def test_no_call_fails_for_an_empty_body(body: str) -> None:
    key = make_key(scopes=[name for name, _ in SCOPES])
    client = Client(raise_request_exception=False)
    answers: dict[tuple[str, str], int] = {}
    for path, operations in read_document()["paths"].items():
        url = re.sub(r"{\w*[iI]d}", str(uuid.uuid4()), path)
        url = re.sub(r"{[^}]*}", "999", url)
        for method in {"post", "put", "patch"} & operations.keys():
            sent = {"content_type": "application/json", "headers": {"Authorization": f"Api-Key {key}"}}
            answers[method, path] = client.generic(method.upper(), url, body, **sent).status_code

    assert len(answers) > 20
    assert {call: status for call, status in answers.items() if status >= 500} == {}


def test_schemas_have_names_of_the_field() -> None:
    names = read_document()["components"]["schemas"]

    assert [name for name in names if re.search("RequestRequest|Enum$|[0-9]|Serializer", name)] == []


def test_every_call_has_an_example_that_fits_its_schema() -> None:
    document = read_document()

    for operation in list_operations(document):
        success = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        contents = [*operation.get("requestBody", {}).get("content", {}).values(), *success["content"].values()]
        examples = [content for content in contents if "example" in content]
        assert len(examples) >= 1 + ("requestBody" in operation), operation["operationId"]
        for content in examples:
            schema = {**content["schema"], "components": document["components"]}
            errors = [error.message for error in Draft202012Validator(schema).iter_errors(content["example"])]
            assert errors == [], operation["operationId"]


def test_examples_have_one_language() -> None:
    """Who copies an example of a form gets no second language with it."""
    examples = str(list(find_values(read_document()["paths"], "example")))

    assert set(re.findall(r"'(?:x-)?locale': '([a-z]+)", examples)) == {"en"}


def find_values(node: Any, key: str) -> Iterator[Any]:
    """What stands under this key, wherever it is."""
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == key)
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from find_values(value, key)


def test_every_failure_of_every_call_has_the_same_schema() -> None:
    components = read_document()["components"]["schemas"]

    for operation in list_operations(read_document()):
        for status, answer in operation["responses"].items():
            if status >= "4":
                name = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
                assert set(components["Failure"]["properties"]) <= set(components[name]["properties"])
            assert "X-Request-ID" in answer["headers"]
        assert {"400", "401", "403", "404", "429", "500"} <= set(operation["responses"])


def test_error_codes_are_listed_with_their_meaning() -> None:
    codes = read_document()["components"]["schemas"]["ErrorCode"]

    assert {"VALIDATION_ERROR", "THROTTLED", "TURN_IN_PROGRESS", "LLM_TIMEOUT"} <= set(codes["enum"])
    assert all(f"`{code}` - " in codes["description"] for code in codes["enum"])
