"""Where a tool may not connect to: with real sockets, and a name that changes its address between two looks."""

import json
import re
import socket
import ssl
from pathlib import Path
from typing import Any

import anyio
import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.server.deployment.folders import find_shipped
from convengine.server.executors import http_client
from convengine.server.executors.http_client import HttpCall, send
from convengine.server.executors.http_connections import connections
from convengine.server.executors.http_policy import policy_of
from convengine.server.outgoing import addresses, transport
from convengine.server.outgoing.addresses import public, resolve_host
from convengine.server.resilience.circuit import Circuits
from tests.builders import make_snapshot
from tests.fakes.certificates import certificate_of
from tests.fakes.http_server import Reply, serving

REFUSED = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "192.0.0.192", "192.0.2.1", "198.18.0.1", "203.0.113.5", "224.0.0.1", "239.1.1.1", "240.0.0.1",
    "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1",
    "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2002:a00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe", "fec0::1", "3fff::1", "no address",
]  # fmt: skip
PUBLIC = ["93.184.215.14", "1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]


@pytest.fixture(autouse=True)
def _own_circuits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "circuits", Circuits())


def get(base_url: str, path: str = "/", **declared: Any) -> Any:
    target = connections({"c": {"base_url": base_url, **declared}})["c"].target(path)
    return send(HttpCall(target, "GET", policy_of(make_snapshot(), "t", {"max_attempts": 1}), "t"))


def test_the_example_of_the_manual_allows_its_private_host() -> None:
    manual = (find_shipped("docs") / "deployment.md").read_text("utf-8")
    (example,) = re.findall(r'`({"stock": .*})`', manual)

    assert connections(json.loads(example))["stock"].may_be_private("127.0.0.1", 9000)


@pytest.mark.parametrize("address", REFUSED)
def test_no_address_of_these_is_public(address: str) -> None:
    assert not public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_these_are(address: str) -> None:
    assert public(address)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "127.1", "0x7f.1", "2130706433", "017700000001", "[::1]", "[::ffff:127.0.0.1]", "0"],
)
def test_a_server_on_this_machine_is_not_called_however_it_is_written(host: str) -> None:
    with serving() as server:
        with pytest.raises(ToolFault, match=r"HOST_REFUSED|HOST_UNKNOWN") as refused:
            get(f"http://{host}:{server.port}")

        assert server.asked == []
        if host in ("127.0.0.1", "localhost"):
            assert "private_hosts" in str(refused.value)


@pytest.mark.parametrize("host", ["10.0.0.1", "192.168.0.1", "169.254.169.254", "[fe80::1]", "[fd00::1]", "0.0.0.0"])
def test_a_private_or_link_local_target_is_refused_before_anything_is_sent(host: str) -> None:
    with pytest.raises(ToolFault, match=r"HOST_REFUSED|HOST_UNKNOWN"):
        get(f"http://{host}/latest/meta-data")


def test_the_deployment_may_allow_a_host() -> None:
    with serving() as server:
        assert get(server.address, private_hosts=[f"127.0.0.1:{server.port}"]).status == 200
        with pytest.raises(ToolFault, match="HOST_REFUSED"):
            get(server.address, private_hosts=["127.0.0.1:1", "*.example.com"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_not_even_to_the_same_host(status: int) -> None:
    with serving() as inner, serving(Reply(status, headers={"Location": f"{inner.address}/secret"})) as outer:
        with pytest.raises(ToolFault, match="REDIRECT_REFUSED"):
            get(outer.address, private_hosts=["127.0.0.1"])

        assert (len(outer.asked), inner.asked) == (1, [])


def test_a_name_with_one_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses.socket, "getaddrinfo", _says("1.1.1.1", "127.0.0.1"))

    with pytest.raises(ToolFault, match="HOST_REFUSED"):
        resolve_host("both.example", 80, private_allowed=False)


def test_a_name_that_changes_its_address_is_looked_up_once_and_called_where_it_was_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, looked_up, connected = socket.getaddrinfo, [], []

    def rebinding(host: Any, *args: Any, **options: Any) -> Any:
        if host != "rebind.example":
            return real(host, *args, **options)
        looked_up.append(host)
        return _says("203.0.114.9" if len(looked_up) == 1 else "127.0.0.1")(host, *args, **options)

    async def connect(remote_host: Any, *args: Any, **options: Any) -> Any:
        connected.append(remote_host)
        raise ConnectionRefusedError("nobody there")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(anyio, "connect_tcp", connect)
    with serving() as server:
        with pytest.raises(ToolFault, match="HTTP_IO"):
            get(f"http://rebind.example:{server.port}")

        assert (len(looked_up), connected, server.asked) == (1, ["203.0.114.9"], [])


def test_the_second_answer_of_a_rebinding_name_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses.socket, "getaddrinfo", _says("127.0.0.1"))
    with serving() as server:
        with pytest.raises(ToolFault, match="HOST_REFUSED"):
            get(f"http://rebind.example:{server.port}")

        assert server.asked == []


def test_the_name_stays_the_name_for_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses.socket, "getaddrinfo", _says("127.0.0.1"))
    with serving() as server:
        get(f"http://orders.example:{server.port}", private_hosts=["orders.example"])

        assert server.asked[0].headers["host"] == f"orders.example:{server.port}"


def test_a_certificate_is_asked_of_the_name_and_must_be_vouched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = certificate_of("orders.example", tmp_path)
    monkeypatch.setattr(addresses.socket, "getaddrinfo", _says("127.0.0.1"))
    http_client._make_transport.cache_clear()
    context = ssl.create_default_context(cafile=str(certificate))
    with serving(Reply(body=b'"sealed"'), certificate=(certificate, key)) as server:

        def call(host: str) -> Any:
            return get(f"https://{host}:{server.port}", private_hosts=["*.example"])

        with pytest.raises(ToolFault, match="HTTP_IO"):
            call("orders.example")
        monkeypatch.setattr(transport, "make_ssl_context", lambda: context)
        http_client._make_transport.cache_clear()
        assert call("orders.example").body == b'"sealed"'
        with pytest.raises(ToolFault, match="HTTP_IO"):
            call("other.example")


def test_a_name_that_nobody_knows_is_told() -> None:
    with pytest.raises(ToolFault, match="HOST_UNKNOWN"):
        resolve_host("no-such-name.invalid", 80, private_allowed=True)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as proxy, serving(Reply(body=b'"direct"')) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.address)
        monkeypatch.setenv("http_proxy", proxy.address)

        assert get(server.address, private_hosts=["127.0.0.1"]).body == b'"direct"'
        assert proxy.asked == []


def _says(*addresses: str) -> Any:
    def getaddrinfo(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return getaddrinfo
