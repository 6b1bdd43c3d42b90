"""What every answer has: an ID, the rate limit, and one shape for failures."""

from typing import Any

import pytest
import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from convengine.server.observability import metrics
from tests.api import Caller
from tests.convengine.server.observability.readings import read

pytestmark = pytest.mark.django_db


def test_the_id_of_a_call_comes_back(caller: Caller) -> None:
    answer = caller.post({"message": "hours"}, **{"X-Request-ID": "shop-17"})

    assert answer.headers["X-Request-ID"] == "shop-17"


def test_the_turn_has_the_id_of_its_call(caller: Caller) -> None:
    caller.say("hours", {"X-Request-ID": "shop-17"})

    turns = caller.client.get(
        f"/api/v1/conversation/{caller.conversation_id}/turns", headers={"Authorization": f"Bearer {caller.secret}"}
    )

    assert turns.json()["results"][0]["requestId"] == "shop-17"


@pytest.mark.parametrize("sent", ["", "two words", "x" * 129, "ä"])
def test_an_id_that_is_missing_or_does_not_fit_is_replaced(caller: Caller, sent: str) -> None:
    made = caller.post({"message": "hours"}, **({"X-Request-ID": sent} if sent else {})).headers["X-Request-ID"]

    assert len(made) == 36


def test_a_failure_has_an_id_too(caller: Caller) -> None:
    assert caller.client.get("/api/v1/nothing", headers={"X-Request-ID": "a"}).headers["X-Request-ID"] == "a"


def failures(client: Client) -> list[Any]:
    return [
        client.get("/api/v1/nothing"),
        client.get("/api/v1/conversation/message"),
        client.post("/api/v1/conversation/message", "{", content_type="application/json"),
        client.get("/api/v1/sessions", headers={"Host": "evil.example"}),
    ]


def test_every_failure_has_the_same_shape(caller: Caller) -> None:
    client = Client(headers={"Authorization": f"Api-Key {caller.secret}"}, raise_request_exception=False)
    sent = [*failures(client), client.post("/api/v1/conversation/message", "x", content_type="text/plain")]

    assert [(answer.status_code, answer.json()["errorCode"]) for answer in sent] == [
        (404, "NOT_FOUND"),
        (405, "METHOD_NOT_ALLOWED"),
        (400, "VALIDATION_ERROR"),
        (400, "VALIDATION_ERROR"),
        (415, "VALIDATION_ERROR"),
    ]
    wanted = {
        "success",
        "conversationId",
        "intent",
        "state",
        "payload",
        "context",
        "errorCode",
        "recoverable",
        "message",
    }
    assert all(wanted <= answer.json().keys() for answer in sent)
    assert {answer.headers["Content-Type"] for answer in sent} == {"application/json"}


def test_the_rate_limit_is_in_the_headers_of_every_call_of_a_key(caller: Caller) -> None:
    with override_settings(CONVENGINE={"THROTTLE_RATE": "2/min"}):
        answers = [caller.post({"message": "hours"}), caller.get(), caller.get()]

    assert [answer.headers["RateLimit-Remaining"] for answer in answers] == ["1", "0", "0"]
    assert [answer.status_code for answer in answers] == [200, 404, 429]
    assert answers[2].headers["RateLimit-Limit"] == "2"
    assert 0 < int(answers[2].headers["RateLimit-Reset"]) <= 61


def test_without_a_rate_there_are_no_such_headers(caller: Caller) -> None:
    assert "RateLimit-Limit" not in caller.post({"message": "hours"}).headers


@override_settings(CORS_ALLOWED_ORIGINS=["https://shop.example.com"])
def test_pages_of_allowed_origins_may_call_the_api_and_no_others(caller: Caller) -> None:
    def get(origin: str, path: str = "/api/v1/audit/stages") -> Any:
        return caller.client.get(path, headers={"Authorization": f"Api-Key {caller.secret}", "Origin": origin}).headers

    allowed = get("https://shop.example.com")
    preflight = caller.client.options(
        "/api/v1/conversation/message",
        headers={"Origin": "https://shop.example.com", "Access-Control-Request-Method": "POST"},
    )

    assert allowed["Access-Control-Allow-Origin"] == "https://shop.example.com"
    assert "X-Request-ID" in allowed["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in allowed
    assert "idempotency-key" in preflight.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Origin" not in get("https://evil.example.com")
    assert "Access-Control-Allow-Origin" not in get("https://shop.example.com", "/")


def test_no_origin_is_allowed_unless_one_is_named(caller: Caller) -> None:
    answer = caller.post({"message": "hours"}, Origin="https://shop.example.com")

    assert "Access-Control-Allow-Origin" not in answer.headers


def show_orders(request: HttpRequest) -> HttpResponse:
    return HttpResponse("<p>No orders.</p>", status=404, headers={"X-Request-ID": "of the shop"})


def fail(request: HttpRequest) -> HttpResponse:
    raise ValueError("The till is shut.")


fail.__module__ = "convengine.server.api.views"
urlpatterns = [path("api/v1/orders", show_orders), path("api/v1/till", fail)]


@override_settings(ROOT_URLCONF=__name__)
def test_addresses_of_the_project_under_the_same_prefix_are_left_alone() -> None:
    answer = Client().get("/api/v1/orders")

    assert (answer.content, answer.headers["X-Request-ID"]) == (b"<p>No orders.</p>", "of the shop")


@override_settings(ROOT_URLCONF=__name__, CORS_ALLOWED_ORIGINS=["https://shop.example.com"])
def test_a_page_of_an_allowed_origin_may_read_failures_of_django() -> None:
    client = Client(raise_request_exception=False, headers={"Origin": "https://shop.example.com"})
    answer = client.get("/api/v1/till")

    assert (answer.status_code, answer.json()["errorCode"]) == (500, "INTERNAL_ERROR")
    assert answer.headers["Access-Control-Allow-Origin"] == "https://shop.example.com"


def request_lines(logs: list[Any]) -> list[Any]:
    return [line for line in logs if line["event"] == "request"]


def test_a_request_is_counted_by_area_and_status() -> None:
    before = read(metrics.REQUEST_SECONDS, "turns", "4xx", suffix="_count")

    Client().post("/api/v1/conversation/message")

    assert read(metrics.REQUEST_SECONDS, "turns", "4xx", suffix="_count") == before + 1


@pytest.mark.parametrize("wanted", [True, False])
def test_the_log_has_a_line_of_a_request_if_the_deployment_wants_it(wanted: bool) -> None:
    with (
        override_settings(CONVENGINE={**settings.CONVENGINE, "REQUEST_LOG": wanted}),
        structlog.testing.capture_logs() as logs,
    ):
        Client().get("/api/v1/nothing?q=what+somebody+seeks")

    fields = [(line["method"], line["path"], line["status"]) for line in request_lines(logs)]
    assert fields == ([("GET", "/api/v1/nothing", 404)] if wanted else [])
