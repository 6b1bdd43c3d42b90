"""Calls are sent again where that has no second effect, and no longer than it helps."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from convengine.client import ApiError, Client, ConnectionFailed, Retries, ServerFailed, Throttled

QUICK = Retries(attempts=3, first_pause=0.001)
TURN = {
    "success": True, "conversationId": "c", "turnId": "t", "turnNo": 1, "configVersion": 1, "intent": "HOURS",
    "state": "IDLE", "payload": {"type": "TEXT", "value": "Nine."}, "context": {}, "errorCode": None,
}  # fmt: skip
BUSY = {"errorCode": "TURN_IN_PROGRESS", "message": "Busy.", "recoverable": True}


def answer_with(*answers: Any) -> tuple[Client, list[httpx2.Request]]:
    """A client whose server gives these answers, and the requests that it got."""
    requests: list[httpx2.Request] = []
    remaining: Iterator[Any] = iter(answers)

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        following = next(remaining)
        if isinstance(following, Exception):
            raise following
        return httpx2.Response(following[0], json=following[1], headers=dict(following[2:]))

    return Client("http://shop", "k", retries=QUICK, transport=httpx2.MockTransport(answer)), requests


@pytest.mark.parametrize(
    "failure", [(409, BUSY), (503, {}), (502, {}), (504, {}), (429, {}), httpx2.ConnectError("down")]
)
def test_a_turn_is_sent_again_with_its_key_after_a_failure_that_may_pass(failure: Any) -> None:
    client, requests = answer_with(failure, (200, TURN))

    assert client.create_turn("hours").text == "Nine."
    assert len({request.headers["Idempotency-Key"] for request in requests}) == 1
    assert len(requests) == 2


def test_a_redirect_is_an_error_and_not_followed_with_the_key() -> None:
    client, requests = answer_with((301, {}, ("Location", "https://shop/")))

    with pytest.raises(ApiError, match="The server answered 301"):
        client.create_turn("hours")

    assert len(requests) == 1


def test_a_page_in_place_of_an_answer_is_an_error() -> None:
    def show_page(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, text="<html>")

    with (
        Client("http://shop", "k", transport=httpx2.MockTransport(show_page)) as client,
        pytest.raises(ApiError, match="The server answered 200"),
    ):
        client.create_turn("hours")


def test_streams_that_redirect_to_themselves_are_an_error() -> None:
    streams = "http://shop:81/api/v1/conversation/stream/c"
    client, requests = answer_with(*[(307, {}, ("Location", streams))] * 9)

    with pytest.raises(ConnectionFailed, match="serves no event streams"):
        next(client.stream_events("c"))

    assert len(requests) == 2


def test_an_id_leads_to_no_other_call() -> None:
    client, requests = answer_with((404, {}))

    with pytest.raises(ApiError):
        client.get_conversation("../config?x=1")

    assert requests[0].url.raw_path == b"/api/v1/conversation/..%2Fconfig%3Fx%3D1"


def test_a_key_may_come_from_a_file_with_a_line_break() -> None:
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json=TURN)

    with Client("http://shop", "secret\n", transport=httpx2.MockTransport(answer)) as client:
        client.create_turn("hours")

    assert requests[0].headers["Authorization"] == "Api-Key secret"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500])
def test_other_failures_are_final(status: int) -> None:
    client, requests = answer_with((status, {"errorCode": "X", "message": "No.", "recoverable": False}))

    with pytest.raises(ApiError, match=r"X: No\."):
        client.create_turn("hours")

    assert len(requests) == 1


def test_it_gives_up() -> None:
    client, requests = answer_with(*[(503, {})] * 3)

    with pytest.raises(ServerFailed):
        client.create_turn("hours")

    assert len(requests) == 3


def test_what_would_have_a_second_effect_is_sent_once() -> None:
    client, requests = answer_with(httpx2.ReadTimeout("slow"))

    with pytest.raises(ConnectionFailed):
        client.create_feedback("c", "THUMBS_UP")

    assert len(requests) == 1


def test_a_longer_pause_than_wanted_is_left_to_the_caller() -> None:
    client, _ = answer_with((429, {"errorCode": "THROTTLED"}, ("Retry-After", "60")))

    with pytest.raises(Throttled) as refused:
        client.create_turn("hours")

    assert refused.value.retry_after == 60


def test_a_failure_that_is_no_json_is_an_error_too() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(500, text="<h1>Proxy</h1>")

    with Client("http://shop", "k", transport=httpx2.MockTransport(answer)) as client, pytest.raises(ServerFailed):
        client.create_turn("hours")


def serve_streams(*bodies: tuple[int, str, dict[str, str]]) -> tuple[Client, list[httpx2.Request]]:
    requests: list[httpx2.Request] = []
    remaining = iter(bodies)

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        status, text, headers = next(remaining)
        return httpx2.Response(status, text=text, headers={"Content-Type": "text/event-stream", **headers})

    return Client("http://shop:80", "k", retries=QUICK, transport=httpx2.MockTransport(answer)), requests


def event(name: str, data: str = "{}", number: str = "") -> str:
    return f"event: {name}\ndata: {data}\n" + (f"id: {number}\n" if number else "") + "\n"


def test_a_stream_that_breaks_off_goes_on_behind_its_last_event() -> None:
    client, requests = serve_streams(
        (307, "", {"Location": "http://shop:81/api/v1/conversation/stream/c?verbose=1"}),
        (200, "retry: 2000\n\n" + event("USER_INPUT", number="1.1"), {}),
        (200, event("STREAM_CLOSED", '{"reason": "TIME_OVER"}'), {}),
        (200, event("RULE_APPLIED", number="1.2") + event("STREAM_CLOSED", '{"reason": "SESSION_COMPLETE"}'), {}),
    )

    names = [each.name for each in client.stream_events("c")]

    assert names == ["USER_INPUT", "RULE_APPLIED", "STREAM_CLOSED"]
    assert [request.url.port for request in requests] == [None, 81, 81, 81]
    assert [request.url.params.get("after") for request in requests] == [None, None, "1.1", "1.1"]
    assert {request.headers["Authorization"] for request in requests} == {"Api-Key k"}


def test_the_key_is_not_sent_to_another_host() -> None:
    client, requests = serve_streams((307, "", {"Location": "http://evil.example/stream"}))

    with pytest.raises(ConnectionFailed, match=r"evil\.example"):
        list(client.stream_events("c"))

    assert len(requests) == 1


def test_a_session_that_has_ended_has_no_events_left() -> None:
    client, _ = serve_streams((204, "", {}))

    assert list(client.stream_events("c")) == []
