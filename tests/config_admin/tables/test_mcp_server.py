"""Save checks of external MCP servers."""

from dataclasses import replace
from typing import Any

import pytest

from tests.config_admin.validation.shop import SERVER, codes, list_messages

REMOTE = replace(SERVER, transport="HTTP", command=None, args_json=None, url="https://mcp.example/api")


@pytest.mark.parametrize("name", ["", "a.b", "a b"])
def test_a_name_has_no_dots(name: str) -> None:
    assert list_messages(replace(SERVER, name=name)) == [
        ("CODE_FORMAT", "Use only letters, digits, underscores and hyphens. Dots are not allowed.")
    ]


def test_a_name_stands_once() -> None:
    assert codes(replace(SERVER, server_id=2, name="Search")) == ["DUPLICATE"]


def test_the_transport_is_of_the_list() -> None:
    assert codes(replace(SERVER, transport="PIGEON")) == ["CHOICE_UNKNOWN"]


def test_only_commands_of_the_deployment_are_started() -> None:
    assert list_messages(replace(SERVER, command="bash")) == [
        (
            "NOT_REGISTERED",
            "This installation does not allow this command. Allowed: search-server. "
            "Declare it in CE_MCP_STDIO_COMMANDS (the manual's chapter Deployment).",
        )
    ]
    assert codes(replace(SERVER, command=None)) == ["FIELD_REQUIRED"]


@pytest.mark.parametrize("url", [None, "", "mcp.example", "ftp://mcp.example"])
def test_a_remote_server_has_an_address(url: Any) -> None:
    assert codes(replace(REMOTE, url=url)) == ["FIELD_REQUIRED"]
    assert codes(REMOTE) == codes(replace(REMOTE, transport="SSE")) == []


def test_lists_and_objects_have_their_shapes() -> None:
    assert codes(replace(SERVER, args_json="{}")) == ["SHAPE_INVALID"]
    assert codes(replace(SERVER, env_json=[])) == ["SHAPE_INVALID"]
    assert codes(replace(REMOTE, headers_json=[], allowed_tools_json={})) == ["SHAPE_INVALID"] * 2


@pytest.mark.parametrize("value", [99, 300_001, "10", None])
def test_the_time_limit_has_bounds(value: Any) -> None:
    assert codes(replace(SERVER, timeout_ms=value)) == ["OUT_OF_RANGE"]


def test_only_hosts_of_the_deployment_are_reached() -> None:
    assert list_messages(replace(REMOTE, url="http://169.254.169.254/latest")) == [
        (
            "NOT_REGISTERED",
            "This installation does not allow this host. Allowed: mcp.example. "
            "Declare it in CE_MCP_HTTP_HOSTS (the manual's chapter Deployment).",
        )
    ]


def test_a_secret_is_named_and_never_written_down() -> None:
    assert list_messages(replace(REMOTE, headers_json={"Authorization": "Bearer abc", "X-Team": "desk"})) == [
        (
            "SECRET_IN_CONFIG",
            "Authorization contains a secret. Write ${NAME} and set CE_MCP_SECRET_NAME in the deployment.",
        )
    ]
    assert codes(replace(SERVER, env_json={"SHOP_API_KEY": "abc"})) == ["SECRET_IN_CONFIG"]
    assert codes(replace(REMOTE, headers_json={"Authorization": "Bearer ${SHOP}"})) == []
    assert codes(replace(REMOTE, headers_json={"X-Note": "Bearer abcdefghijklmnop"})) == ["SECRET_IN_CONFIG"]
    assert codes(replace(SERVER, args_json=["--verbose", "--api-key=abc"])) == ["SECRET_IN_CONFIG"]
    assert "SECRET_IN_CONFIG" in codes(replace(REMOTE, url="https://ada:wonder@mcp.example/"))
    assert "SECRET_IN_CONFIG" in codes(replace(REMOTE, url="https://mcp.example/?token=abc"))
