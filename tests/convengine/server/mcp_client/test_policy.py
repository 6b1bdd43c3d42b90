import pytest

from convengine.server.mcp_client.policy import McpPolicy, NotAllowed
from tests.builders import make_server

POLICY = McpPolicy(
    frozenset({"shop-mcp"}), frozenset({"mcp.example", "tools.example:8443", "*.corp.example"}), {"TOKEN": "s3cret"}
)


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://mcp.example/api", True),
        ("http://MCP.example:9000/", True),
        ("https://tools.example:8443/mcp", True),
        ("https://tools.example/mcp", False),
        ("https://a.corp.example/", True),
        ("https://corp.example/", False),
        ("https://evilcorp.example/", False),
        ("https://mcp.example.evil.example/", False),
        ("https://user:pw@mcp.example/", False),
        ("ftp://mcp.example/", False),
        ("http://[::1/", False),
        ("mcp.example", False),
        ("", False),
    ],
)
def test_only_hosts_that_the_deployment_names_are_reached(url: str, allowed: bool) -> None:
    assert POLICY.allows_host(url) is allowed


def test_secrets_are_filled_into_headers() -> None:
    target = POLICY.target(
        make_server("a", url="https://mcp.example/", headers_json={"Authorization": "Bearer ${TOKEN}"})
    )

    assert target.headers == (("Authorization", "Bearer s3cret"),)


def test_an_empty_policy_allows_nothing() -> None:
    with pytest.raises(NotAllowed, match="Allowed: none"):
        McpPolicy().target(make_server("a", transport="STDIO", command="shop-mcp"))
    with pytest.raises(NotAllowed, match="Allowed: none"):
        McpPolicy().target(make_server("a"))
