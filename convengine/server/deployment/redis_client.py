"""A client of the broker or the bus, by its address: a server, a socket, or the Sentinels that know the server."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.core.exceptions import ImproperlyConfigured

from convengine.server.deployment import conf

_SENTINEL_PORT = 26379


def make_redis_client(url: str, **options: Any) -> Any:
    """A client that connects at its first command; behind Sentinels, to the present master.

    Name and password in an address of a Sentinel are those of the master; one address with them is enough.
    Raises ImproperlyConfigured where addresses have different ones.
    """
    import redis

    if not url.startswith("sentinel://"):
        return redis.Redis.from_url(url.replace("redis+socket://", "unix://", 1), **options)
    parts = [urlsplit(part) for part in url.split(";")]
    addresses = [(part.hostname, part.port or _SENTINEL_PORT) for part in parts]
    sentinels: Any = redis.Sentinel(addresses, socket_timeout=5)  # type: ignore[no-untyped-call]
    return sentinels.master_for(conf.get("SENTINEL_MASTER"), **_read_login(parts), **options)


def _read_login(parts: Iterable[SplitResult]) -> dict[str, str | None]:
    logins = {(part.username or None, part.password) for part in parts if part.password}
    if len(logins) > 1:
        raise ImproperlyConfigured(
            "The Sentinels of CE_BROKER_URL or CE_BUS_URL have different passwords. They stand for the password of the "
            "one Redis server that the Sentinels watch: write the same in all addresses, or in one of them."
        )
    username, password = next(iter(logins), (None, None))
    return {"username": username, "password": password}
