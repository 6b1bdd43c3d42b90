"""Save checks of HTTP calls behind tools."""

from dataclasses import replace
from typing import Any

import pytest

from tests.config_admin.validation.shop import HTTP_TOOL, codes, list_messages

POST = replace(HTTP_TOOL, method="POST", body_template='{"id": "{{orderId}}"}')


def test_only_http_tools_make_calls() -> None:
    assert list_messages(replace(HTTP_TOOL, tool_id=12)) == [
        ("CONFLICT", "orders.find is in group DB. Only tools in group HTTP_API make HTTP calls.")
    ]


def test_the_connection_is_one_of_the_deployment() -> None:
    assert list_messages(replace(HTTP_TOOL, connection_name="order-api")) == [
        (
            "CONNECTION_UNKNOWN",
            "The connection order-api does not exist. Did you mean orders-api? Known: orders-api. "
            "Declare it in CE_HTTP_CONNECTIONS (the manual's chapter Deployment).",
        )
    ]
    assert list_messages(replace(HTTP_TOOL, connection_name="")) == [
        ("CONNECTION_UNKNOWN", "Choose a connection. Known: orders-api.")
    ]


def test_a_scenario_needs_no_connection_of_the_deployment() -> None:
    assert codes(replace(HTTP_TOOL, connection_name="order-api"), is_deployed=False) == []
    assert codes(replace(HTTP_TOOL, connection_name=""), is_deployed=False) == ["CONNECTION_UNKNOWN"]


@pytest.mark.parametrize("address", ["https://x.example/orders", "//x.example/orders", "HTTP://x"])
def test_the_address_comes_from_the_connection(address: str) -> None:
    assert list_messages(replace(HTTP_TOOL, url_template=address)) == [
        ("SHAPE_INVALID", "Enter the path only. The host comes from the connection.")
    ]


def test_there_is_a_path() -> None:
    assert codes(replace(HTTP_TOOL, url_template="")) == ["FIELD_REQUIRED"]


def test_the_method_is_of_the_list() -> None:
    assert codes(replace(HTTP_TOOL, method="FETCH")) == ["CHOICE_UNKNOWN"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_some_methods_send_no_body(method: str) -> None:
    assert list_messages(replace(POST, method=method)) == [("CONFLICT", f"{method} requests have no body. Remove it.")]
    assert codes(POST) == []


@pytest.mark.parametrize("field", ["headers_json", "query_json", "policy_json"])
def test_some_columns_are_objects(field: str) -> None:
    assert codes(replace(HTTP_TOOL, **{field: []})) == ["SHAPE_INVALID"]
    assert codes(replace(HTTP_TOOL, **{field: "{"})) == ["JSON_INVALID"]


@pytest.mark.parametrize("header", ["Authorization", "X-API-KEY", "Cookie", "x-auth-token"])
def test_credentials_are_no_headers(header: str) -> None:
    assert list_messages(replace(HTTP_TOOL, headers_json={header: "abc"})) == [
        ("CONFLICT", "Do not store credentials here. Configure them in the connection.")
    ]
    assert codes(replace(HTTP_TOOL, headers_json={"Accept": "application/json"})) == []


@pytest.mark.parametrize(
    "values",
    [
        {"headers_json": {"X-Note": "Bearer abcdefghijklmnop"}},
        {"headers_json": {"X-Note": "sk-abcdefghijklmnopq"}},
        {"query_json": {"api_key": "abc"}},
        {"url_template": "/orders?token=abc"},
        {"url_template": "/forward?to=https://ada:wonder@x.example/"},
    ],
)
def test_secrets_are_in_no_column(values: dict[str, Any]) -> None:
    assert list_messages(replace(HTTP_TOOL, **values)) == [
        ("SECRET_IN_CONFIG", "Do not store secrets here. Configure them in the connection.")
    ]


def test_an_argument_is_no_secret() -> None:
    assert codes(replace(HTTP_TOOL, query_json={"token": "{{orderId}}"}, url_template="/o?token={{orderId}}")) == []


def test_the_policy_overrides_settings_of_http_calls() -> None:
    assert codes(replace(HTTP_TOOL, policy_json={"max_attempts": 3, "read-timeout-ms": 100})) == []
    assert list_messages(replace(HTTP_TOOL, policy_json={"max_attempt": 3})) == [
        ("CHOICE_UNKNOWN", "max_attempt is not a setting of HTTP calls. Did you mean max_attempts?")
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url_template", "/orders/{{colour}}"),
        ("query_json", {"c": "{{ colour }}"}),
        ("headers_json", {"X-Colour": "{{ colour }}"}),
    ],
)
def test_templates_use_declared_arguments(field: str, value: Any) -> None:
    assert list_messages(replace(HTTP_TOOL, **{field: value})) == [
        ("CHOICE_UNKNOWN", "colour is not in the parameter schema.")
    ]
    assert codes(replace(POST, body_template="{{ colour }}")) == ["CHOICE_UNKNOWN"]


def test_templates_parse() -> None:
    assert codes(replace(HTTP_TOOL, url_template="/orders/{{ orderId")) == ["TEMPLATE_INVALID"]


@pytest.mark.parametrize(
    ("mode", "mapping", "code"),
    [
        ("XML", {}, "CHOICE_UNKNOWN"),
        ("JSON_PATH", {"jsonPath": "$["}, "JSONPATH_INVALID"),
        ("FIELD_TEMPLATE", {}, "SHAPE_INVALID"),
        ("FIELD_TEMPLATE", {"fieldPaths": {"a": 1}}, "SHAPE_INVALID"),
        ("FIELD_TEMPLATE", {"fieldPaths": {"a": "$["}}, "JSONPATH_INVALID"),
        ("MAPPER_CLASS", {"mapper": "nobody"}, "NOT_REGISTERED"),
    ],
)
def test_the_mapping_fits_its_mode(mode: str, mapping: dict[str, Any], code: str) -> None:
    assert codes(replace(HTTP_TOOL, mapping_mode=mode, mapping_json=mapping)) == [code]


@pytest.mark.parametrize(
    ("mode", "mapping"),
    [("RAW_JSON", {}), ("TEXT", {}), ("JSON_PATH", {"jsonPath": "$.a"}), ("MAPPER_CLASS", {"mapper": "slim"})],
)
def test_good_mappings_are_left_in_peace(mode: str, mapping: dict[str, Any]) -> None:
    tool = replace(HTTP_TOOL, mapping_mode=mode, mapping_json=mapping)
    assert codes(tool, mappers=frozenset({"slim"})) == []


def test_repeating_what_acts_may_act_twice() -> None:
    assert list_messages(replace(POST, policy_json={"retry_non_idempotent": True})) == [
        ("CONFLICT", "A retried call may run twice. Retry only calls that are safe to repeat.")
    ]
    assert codes(replace(POST, policy_json={"retry_non_idempotent": True, "max_attempts": 1})) == []
    assert codes(replace(HTTP_TOOL, method="PUT", policy_json={"retry_non_idempotent": True})) == []
