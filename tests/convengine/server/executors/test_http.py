"""HTTP tools against real servers on this machine."""

import gzip
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import rows
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors import http_client
from convengine.server.executors.http_policy import ONE_ATTEMPT, policy_of
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.http import HttpRequest
from convengine.server.extensions.registry import Registry
from convengine.server.resilience import circuit
from convengine.server.resilience.circuit import Circuit, Circuits
from tests.builders import make_config, make_session, make_snapshot, make_tool
from tests.fakes.http_server import Reply, Server, serving

TOOL = make_tool("order.status", tool_id=1, tool_group="HTTP_API")
QUICK = (
    make_config("McpHttpApi/INITIAL_BACKOFF_MS", "1"),
    make_config("McpHttpApi/MAX_BACKOFF_MS", "5"),
)


@pytest.fixture(autouse=True)
def _own_circuits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "circuits", Circuits())


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Reply(body=b'{"status": "open", "events": [{"text": "packed"}]}')) as running:
        yield running


@pytest.fixture
def connect(settings: Any) -> Any:
    """Name a server as connection `orders`; it may be on this machine unless said otherwise."""

    def name(address: str, **declared: Any) -> None:
        made = {"base_url": address, "private_hosts": ["127.0.0.1"], **declared}
        settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"orders": made}}

    return name


def call(args: Any = None, *more: rows.Row, registry: Registry | None = None, **columns: Any) -> ToolAnswer:
    row = rows.HttpTool(tool_id=1, **{"connection_name": "orders", "url_template": "/orders", **columns})
    tools = BuiltInTools(make_snapshot(TOOL, row, *QUICK, *more), registry or Registry())
    return tools.run("order.status", "HTTP_API", args or {}, make_session())


def test_an_answer_is_mapped_and_told_with_its_attempt(server: Server, connect: Any) -> None:
    connect(f"{server.address}/api/")

    result = call({"orderId": "A 7"}, url_template="/orders/{{orderId}}", query_json={"expand": "events"}).result

    assert (result["status"], result["attempt"], result["mapped"]["status"]) == (200, 1, "open")
    assert result["latencyMs"] >= 0
    assert [(request.method, request.path) for request in server.asked] == [("GET", "/api/orders/A%207?expand=events")]
    assert server.asked[0].headers["host"] == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize(
    ("mode", "mapping", "mapped"),
    [
        ("JSON_PATH", {"jsonPath": "$.events[0].text"}, "packed"),
        ("JSON_PATH", {"jsonPath": "$.events[7].text"}, None),
        ("JSON_PATH", {}, {"status": "open", "events": [{"text": "packed"}]}),
        ("FIELD_TEMPLATE", {"fieldPaths": {"s": "$.status", "x": "$.none"}}, {"s": "open", "x": None}),
        ("TEXT", {}, '{"status": "open", "events": [{"text": "packed"}]}'),
        ("MAPPER_CLASS", {"mapper": "status"}, ["open"]),
    ],
)
def test_each_mapping_mode(server: Server, connect: Any, mode: str, mapping: Any, mapped: Any) -> None:
    connect(server.address)
    registry = Registry(http_mappers={"status": lambda body: [body["status"]]})

    answer = call(mapping_mode=mode, mapping_json=mapping, registry=registry)

    assert answer.result["mapped"] == mapped


@pytest.mark.parametrize(("body", "mapped"), [(b"hello", {"text": "hello"}), (b"", {}), (b"7", 7)])
def test_P2_3_4_V5_an_answer_that_is_no_json_is_an_object_with_its_text(connect: Any, body: bytes, mapped: Any) -> None:
    with serving(Reply(body=body)) as server:
        connect(server.address)

        assert call().result["mapped"] == mapped


@pytest.mark.parametrize(
    ("mode", "mapping", "body"),
    [
        ("RAW_JSON", {}, b'{"status": "op'),
        ("RAW_JSON", {}, b"<!doctype html><title>Sign in</title>"),
        ("RAW_JSON", {}, b" [1, 2"),
        ("JSON_PATH", {"jsonPath": "$.status"}, b'{"error": "none"}'),
        ("JSON_PATH", {"jsonPath": "$.status"}, b"open"),
        ("JSON_PATH", {"jsonPath": "$.status"}, b"[]"),
        ("FIELD_TEMPLATE", {"fieldPaths": {"s": "$.status", "x": "$.none"}}, b'{"error": "none"}'),
        ("FIELD_TEMPLATE", {"fieldPaths": {"s": "$.status"}}, b"null"),
        ("MAPPER_CLASS", {"mapper": "status"}, b'{"status": "open"'),
    ],
)
def test_an_answer_of_another_shape_is_a_failure(connect: Any, mode: str, mapping: Any, body: bytes) -> None:
    registry = Registry(http_mappers={"status": lambda body: body})
    with serving(Reply(body=body)) as server:
        connect(server.address)
        answer = call(mapping_mode=mode, mapping_json=mapping, registry=registry)

    assert (answer.error_type, answer.result) == ("ANSWER_UNREADABLE", None)


def test_an_unknown_or_failing_mapper_is_no_fault_of_the_other_side(server: Server, connect: Any) -> None:
    connect(server.address)
    registry = Registry(http_mappers={"fails": lambda body: body["missing"]})

    for name in ("fails", "unknown"):
        for _ in range(6):
            answer = call(mapping_mode="MAPPER_CLASS", mapping_json={"mapper": name}, registry=registry)
            assert answer.error_type == "MAPPING_FAILED"


@pytest.mark.parametrize(
    ("declared", "header", "value"),
    [
        ({"auth": "BEARER_STATIC", "secret_value": "s3cret"}, "authorization", "Bearer s3cret"),
        ({"auth": "BEARER_STATIC", "prefix": "Token", "secret_value": "s3cret"}, "authorization", "Token s3cret"),
        ({"auth": "API_KEY", "secret_value": "s3cret"}, "x-api-key", "s3cret"),
        ({"auth": "API_KEY", "header": "X-Key", "secret_value": "s3cret"}, "x-key", "s3cret"),
    ],
)
def test_a_connection_says_who_calls(server: Server, connect: Any, declared: Any, header: str, value: str) -> None:
    connect(server.address, **declared)

    answer = call()

    assert server.asked[0].headers[header] == value
    assert "s3cret" not in json.dumps([answer.result, dict(answer.stage_payloads)])


# --- what arguments may do ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["a/b", "a?admin=1", "a#b", "a%2e%2e", "ü", "a b", "a\r\nX: 1"])
def test_an_argument_stays_one_part_of_the_path(server: Server, connect: Any, value: str) -> None:
    connect(server.address)

    assert call({"id": value}, url_template="/orders/{{id}}/state").error_type is None
    path = server.asked[0].path
    assert path.startswith("/orders/")
    assert path.endswith("/state")
    assert path.count("/") == 3
    assert "?" not in path


@pytest.mark.parametrize("value", ["..", ".", "%2e%2e", "%252e%252e", "..\\.."])
def test_an_argument_does_not_climb(server: Server, connect: Any, value: str) -> None:
    connect(server.address)

    assert call({"id": value}, url_template="/orders/{{id}}/state").error_type == "PATH_REFUSED"
    assert server.asked == []


@pytest.mark.parametrize("value", ["//evil.example/x", "http://evil.example/x", "/\\evil.example"])
def test_an_argument_never_chooses_the_host(server: Server, connect: Any, value: str) -> None:
    connect(server.address)

    call({"id": value}, url_template="{{id}}")

    assert all(request.headers["host"] == f"127.0.0.1:{server.port}" for request in server.asked)


def test_a_header_takes_no_second_line(server: Server, connect: Any) -> None:
    connect(server.address)

    assert call({"x": "a\r\nEvil: 1"}, headers_json={"X-Trace": "{{x}}"}).error_type == "HEADER_REFUSED"
    assert call({}, headers_json={"Host": "evil.example"}).error_type == "HEADER_REFUSED"
    assert server.asked == []


def test_a_query_leaves_null_out_and_keeps_what_an_argument_holds_one_value(server: Server, connect: Any) -> None:
    connect(server.address)
    query = {"a": "{{a}}", "b": "{{b}}", "c": "{{c}}", "d": "x {{a}}", "e": "{{e}}", " ": "z"}

    call({"a": "1&admin=1", "b": None, "c": [1, 2], "e": True}, query_json=query)

    assert server.asked[0].path == "/orders?a=1%26admin%3D1&c=1&c=2&d=x+1%26admin%3D1&e=true"


def test_a_body_is_json_whatever_its_arguments_hold(server: Server, connect: Any) -> None:
    connect(server.address)
    template = '{"name": "{{name}}", "count": "{{count}}", "note": "for {{name}}"}'

    call({"name": 'x", "admin": true, "y": "', "count": 3}, method="POST", body_template=template)

    sent = json.loads(server.asked[0].body)
    assert sent == {
        "name": 'x", "admin": true, "y": "',
        "count": 3,
        "note": 'for x", "admin": true, "y": "',
    }
    assert server.asked[0].headers["content-type"] == "application/json"


def test_a_body_with_names_outside_of_quotation_marks(server: Server, connect: Any) -> None:
    connect(server.address)

    call({"n": 3, "t": 'a"b'}, method="PUT", body_template='{"n": {{n}}, "t": "{{t}}"}')

    assert json.loads(server.asked[0].body) == {"n": 3, "t": 'a"b'}


def test_get_head_and_delete_send_no_body(server: Server, connect: Any) -> None:
    connect(server.address)

    for method in ("GET", "HEAD", "DELETE"):
        assert call(method=method, body_template="{}").result["status"] == 200
    assert [request.body for request in server.asked] == [b"", b"", b""]
    assert all("content-type" not in request.headers for request in server.asked)


# --- trying again, and not at all ---------------------------------------------------------------------------------


def test_P2_4_11_V14_an_outage_is_tried_again_and_leaves_no_failure(connect: Any) -> None:
    with serving(Reply(503), Reply(body=b'{"ok": true}')) as server:
        connect(server.address)

        result = call().result

    assert (result["attempt"], result["mapped"]) == (2, {"ok": True})
    assert http_client.circuits.of("order.status").failures == 0


def test_P2_4_11_V15_five_failed_calls_open_the_circuit_for_the_sixth(connect: Any) -> None:
    with serving(Reply(500)) as server:
        connect(server.address)

        failed = [call() for _ in range(5)]
        sixth = call()

        assert {answer.error_type for answer in failed} == {"HTTP_STATUS"}
        assert sixth.error_type == "CIRCUIT_OPEN"
        assert len(server.asked) == 5


def test_a_circuit_lets_one_call_try_after_its_time(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(circuit, "Circuit", lambda name: Circuit(lambda: now, name))
    policy = {"circuit_failure_threshold": 2, "circuit_open_ms": 1000}
    with serving(Reply(500), Reply(500), Reply(500), Reply()) as server:
        connect(server.address)
        for _ in range(2):
            call(policy_json=policy)
        assert call(policy_json=policy).error_type == "CIRCUIT_OPEN"
        now = 1.05

        probe, after = call(policy_json=policy), call(policy_json=policy)
        assert (probe.error_type, after.error_type) == ("HTTP_STATUS", "CIRCUIT_OPEN")
        now = 2.1
        assert call(policy_json=policy).result["status"] == 200
        assert call(policy_json=policy).result["status"] == 200


def test_what_the_caller_did_wrong_does_not_open_the_circuit(connect: Any) -> None:
    with serving(Reply(404, b"no such order")) as server:
        connect(server.address)

        answers = [call() for _ in range(7)]

    assert {answer.error_type for answer in answers} == {"HTTP_STATUS"}
    assert answers[0].error_message == f"127.0.0.1:{server.port} answered 404: no such order"


def test_a_circuit_can_be_switched_off(connect: Any) -> None:
    with serving(Reply(500)) as server:
        connect(server.address)
        off = make_config("McpHttpApi/CIRCUIT_BREAKER_ENABLED.order.status", "false")

        assert {call({}, off).error_type for _ in range(7)} == {"HTTP_STATUS"}


@pytest.mark.parametrize(("method", "tries"), [("GET", 2), ("PUT", 2), ("DELETE", 2), ("POST", 1), ("PATCH", 1)])
def test_only_what_may_be_repeated_is_tried_again(connect: Any, method: str, tries: int) -> None:
    with serving(Reply(503)) as server:
        connect(server.address)
        call(method=method)

        assert len(server.asked) == tries


def test_a_repeated_post_carries_the_same_key(connect: Any) -> None:
    with serving(Reply(503), Reply()) as server:
        connect(server.address)
        result = call(method="POST", body_template="{}", policy_json={"retry-non-idempotent": True}).result

        keys = [request.headers["idempotency-key"] for request in server.asked]
    assert result["attempt"] == 2
    assert (len(keys), len(set(keys))) == (2, 1)


def test_a_cut_connection_is_tried_again_and_told(connect: Any) -> None:
    with serving(Reply(cut=True)) as server:
        connect(server.address)

        assert call().error_type == "HTTP_IO"
        assert len(server.asked) == 2
        assert call(policy_json={"retry_on_io_exception": False}).error_type == "HTTP_IO"
        assert len(server.asked) == 3


def test_the_wait_that_is_asked_for_is_kept_up_to_the_longest(connect: Any) -> None:
    with serving(Reply(429, headers={"Retry-After": "60"}), Reply()) as server:
        connect(server.address)
        started = time.monotonic()

        assert call(policy_json={"max_backoff_ms": 150}).result["attempt"] == 2
        assert 0.14 < time.monotonic() - started < 30


@pytest.mark.parametrize(("asked", "pause"), [("1", 1000), ("²", 20), ("9" * 5000, 60_000), ("soon", 20)])
def test_only_seconds_that_can_be_read_change_the_pause(asked: str, pause: float) -> None:
    policy = replace(ONE_ATTEMPT, initial_backoff_ms=20, max_backoff_ms=60_000)

    assert policy.backoff_ms(1, asked) == pause


@pytest.mark.parametrize("reply", [Reply(wait=1.5), Reply(body=b"x" * 200, drip=0.1)], ids=["late", "drip by drip"])
def test_an_answer_that_takes_too_long_is_not_waited_for(connect: Any, reply: Reply) -> None:
    with serving(reply) as server:
        connect(server.address)
        started = time.monotonic()

        answer = call(policy_json={"read_timeout_ms": 300, "connect_timeout_ms": 100, "max_attempts": 1})

    assert answer.error_type == "HTTP_TIMEOUT"
    # Drip by drip, the whole answer takes 20 seconds.
    assert time.monotonic() - started < 15


def test_an_answer_over_a_megabyte_is_refused(connect: Any) -> None:
    with serving(Reply(body=b"x" * (1024 * 1024 + 1))) as server:
        connect(server.address)

        assert call().error_type == "BODY_TOO_LARGE"


def test_a_compressed_answer_is_refused_unread(connect: Any) -> None:
    with serving(Reply(body=b"bomb", headers={"Content-Encoding": "gzip"})) as server:
        connect(server.address)

        assert call().error_type == "HTTP_ANSWER"
        assert server.asked[0].headers["accept-encoding"] == "identity"


def test_calls_of_one_tool_do_not_wait_for_one_another(connect: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with serving(Reply(wait=1)) as server:
        connect(server.address)
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: call(), range(8)))

    assert all(answer.error_type is None for answer in answers)
    assert server.most > 1


# --- what code may ask for ----------------------------------------------------------------------------------------


def test_code_asks_through_a_connection_and_its_hosts(server: Server, connect: Any) -> None:
    with serving(Reply(body=b'"other"')) as other:
        connect(
            server.address,
            hosts=[f"127.0.0.1:{other.port}"],
            auth="API_KEY",
            secret_value="s3cret",
        )
        tools = BuiltInTools(make_snapshot(), Registry())

        def make(path: str) -> Any:
            return tools.make_call("x", HttpRequest("orders", path), make_session())

        assert make("/a")["mapped"]["status"] == "open"
        assert make(f"{server.address}/b")["mapped"]["status"] == "open"
        assert make(f"{other.address}/c")["mapped"] == "other"
        assert [request.path for request in server.asked] == ["/a", "/b"]
        assert server.asked[1].headers["x-api-key"] == "s3cret"
        assert "x-api-key" not in other.asked[0].headers
        for path in ("http://127.0.0.1:1/x", "https://example.com/", "ftp://127.0.0.1/", "http://a@127.0.0.1/"):
            with pytest.raises(ToolFault, match="HOST_REFUSED"):
                make(path)


def test_an_unknown_connection_says_which_there_are(connect: Any) -> None:
    connect("https://orders.example.com")

    answer = call(connection_name="stock")

    assert answer.error_type == "CONNECTION_UNKNOWN"
    assert answer.error_message == (
        "The connection stock does not exist. Known: orders. "
        "Declare it in CE_HTTP_CONNECTIONS (the manual's chapter Deployment)."
    )


def test_a_tool_without_a_row_says_so() -> None:
    answer = BuiltInTools(make_snapshot(TOOL), Registry()).run("order.status", "HTTP_API", {}, make_session())

    assert answer.error_type == "NO_CALL"


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"headers_json": {"X-Note": "{{x}}"}}, "REQUEST_INVALID"),
        ({"headers_json": {"X Note": "a"}}, "REQUEST_INVALID"),
        ({"headers_json": {"X-Note": "a\r\nX-Other: b"}}, "HEADER_REFUSED"),
        ({"method": "GE T"}, "REQUEST_INVALID"),
        ({"url_template": "https://ada:hidden-word@evil.example/"}, "HOST_REFUSED"),
        ({"url_template": "http://[::1/"}, "HOST_REFUSED"),
        ({"url_template": "http://127.0.0.1:99999/"}, "HOST_REFUSED"),
    ],
)
def test_a_request_that_cannot_be_made_is_a_fault_of_the_tool(
    server: Server, connect: Any, columns: dict[str, Any], code: str
) -> None:
    connect(server.address)

    refused = call({"x": "żółć"}, **columns)

    assert refused.error_type == code, refused
    assert "hidden-word" not in str(refused)
    assert server.asked == []


@pytest.mark.parametrize("status", [200, 400])
def test_a_secret_that_the_service_repeats_is_masked(connect: Any, status: int) -> None:
    with serving(Reply(status=status, body=b'{"sent": "Bearer very-secret-word"}')) as running:
        connect(running.address, auth="BEARER_STATIC", secret_value="very-secret-word")
        text = str(call())

    assert "***" in text
    assert "very-secret-word" not in text


def test_a_compressed_answer_is_not_unpacked(connect: Any) -> None:
    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    with serving(Reply(body=bomb, headers={"Content-Encoding": "gzip"})) as running:
        connect(running.address)
        refused = call()

    assert refused.error_type == "HTTP_ANSWER"


def test_of_the_status_codes_of_a_policy_only_numbers_count() -> None:
    policy = policy_of(make_snapshot(), "order.status", {"retry_status_codes": ["503", "50²", "many"]})

    assert policy.retry_status_codes == {503}
