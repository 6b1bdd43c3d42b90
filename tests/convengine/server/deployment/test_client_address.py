"""The address that limits count for."""

import pytest
from django.test import override_settings

from convengine.server.deployment.client_address import find_client_address


@pytest.mark.parametrize(
    ("proxies", "forwarded", "remote", "address"),
    [
        (0, "198.51.100.1", "192.0.2.1", "192.0.2.1"),
        (1, "198.51.100.1", "192.0.2.1", "198.51.100.1"),
        (1, "203.0.113.9, 198.51.100.1", "192.0.2.1", "198.51.100.1"),
        (2, "203.0.113.9, 198.51.100.1, 10.0.0.1", "192.0.2.1", "198.51.100.1"),
        (2, "198.51.100.1", "192.0.2.1", "192.0.2.1"),
        (1, "nonsense", "192.0.2.1", "192.0.2.1"),
        (1, "198.51.100.1:4711", "192.0.2.1", "198.51.100.1"),
        (1, "[2001:db8::7]:4711", "192.0.2.1", "2001:db8::/64"),
        (0, "", "2001:db8:0:0:1::7", "2001:db8::/64"),
        (0, "", "::ffff:192.0.2.1", "192.0.2.1"),
        (0, "", "", "unknown"),
    ],
)
def test_only_trusted_proxies_say_who_calls(proxies: int, forwarded: str, remote: str, address: str) -> None:
    with override_settings(CONVENGINE={"TRUSTED_PROXIES": proxies}):
        assert find_client_address({"HTTP_X_FORWARDED_FOR": forwarded, "REMOTE_ADDR": remote}) == address
