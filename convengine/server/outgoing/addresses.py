"""Which addresses a call may connect to: found once, checked, and connected to as checked."""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from convengine.engine.tools.fault import ToolFault

REMEDY = "The deployment can allow it in private_hosts of the connection."
#: Addresses that carry an IPv4 address inside: NAT64.
_NAT64 = ip_network("64:ff9b::/96")
#: Ranges that older Pythons take for global: protocol assignments (including a cloud's metadata), site-local,
#: documentation.
_NOT_GLOBAL = tuple(ip_network(text) for text in ("192.0.0.0/24", "fec0::/10", "3fff::/20", "5f00::/16"))


def resolve_host(host: str, port: int, private_allowed: bool, remedy: str = REMEDY) -> list[str]:
    """The addresses to connect to, in order. Raises ToolFault HOST_REFUSED and HOST_UNKNOWN.

    Every address of the name must be public, unless private ones are allowed; a name with both is a trick.
    """
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFault("HOST_UNKNOWN", f"{host} cannot be resolved: {error}.") from error
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    if not private_allowed:
        for address in addresses:
            if not public(address):
                raise ToolFault("HOST_REFUSED", f"{host} has the address {address}, which is not public. {remedy}")
    return addresses


def is_listed(host: str, port: int, entries: Collection[str]) -> bool:
    """Whether `host`, `host:port` or `*.domain` is among the entries, which have lower case."""
    host = host.lower()
    shown = f"[{host}]" if ":" in host else host
    return not {host, f"{shown}:{port}"}.isdisjoint(entries) or any(
        entry.startswith("*.") and host.endswith(entry[1:]) for entry in entries
    )


def is_plainly_private(host: str) -> bool:
    """True for a private address, and for a name without a dot, which the public name servers do not know.

    Whoever writes one means a host nearby.
    """
    if "." not in host and ":" not in host:
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return not public(host)


def public(address: str) -> bool:
    """False for loopback, link-local, private, shared, multicast and reserved addresses in any notation."""
    try:
        inner = _inside(ip_address(address.partition("%")[0]))
    except ValueError:
        return False
    special = any(inner.version == network.version and inner in network for network in _NOT_GLOBAL)
    return inner.is_global and not special and not inner.is_multicast and not inner.is_reserved


def _inside(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address inside an IPv6 one; else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else address)
