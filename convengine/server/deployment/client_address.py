"""The address of a caller, behind as many proxies as the deployment trusts."""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convengine.server.deployment import conf


def find_client_address(meta: Mapping[str, Any]) -> str:
    """The address that limits count for: an IPv4 address, or the network of an IPv6 address.

    Each trusted proxy adds its caller at the end of `X-Forwarded-For`. What stands before that, the caller wrote.
    """
    proxies: int = conf.get("TRUSTED_PROXIES")
    forwarded = [part.strip() for part in str(meta.get("HTTP_X_FORWARDED_FOR", "")).split(",")]
    given = forwarded[-proxies] if 0 < proxies <= len(forwarded) else ""
    return _normalize(given) or _normalize(str(meta.get("REMOTE_ADDR", ""))) or "unknown"


def find_scope_address(scope: Mapping[str, Any]) -> str:
    """The client address of an ASGI request."""
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    remote = (scope.get("client") or ("",))[0]
    return find_client_address({"HTTP_X_FORWARDED_FOR": forwarded.decode("latin-1"), "REMOTE_ADDR": remote})


@lru_cache(maxsize=1024)
def _normalize(text: str) -> str:
    """An address without port; of IPv6 the network, because a caller has all of its addresses. Blank for none."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)
