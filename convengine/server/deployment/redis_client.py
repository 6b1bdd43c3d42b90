"""A client of the broker or the bus, by its address: a server, a socket, or the Sentinels that know the server."""

from typing import Any
from urllib.parse import urlsplit

from convengine.server.deployment import conf

_SENTINEL_PORT = 26379


def make_redis_client(url: str, **options: Any) -> Any:
    """A client that connects at its first command; behind Sentinels, to the present master."""
    import redis

    if not url.startswith("sentinel://"):
        return redis.Redis.from_url(url.replace("redis+socket://", "unix://", 1), **options)
    parts = [urlsplit(part) for part in url.split(";")]
    addresses = [(part.hostname, part.port or _SENTINEL_PORT) for part in parts]
    sentinels: Any = redis.Sentinel(addresses, socket_timeout=5)  # type: ignore[no-untyped-call]
    return sentinels.master_for(conf.get("SENTINEL_MASTER"), password=parts[0].password, **options)
