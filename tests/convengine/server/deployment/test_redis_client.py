import pytest
import redis
from django.core.exceptions import ImproperlyConfigured

from convengine.server.deployment.redis_client import make_redis_client


def test_a_server_and_a_socket_are_called_directly() -> None:
    assert make_redis_client("redis://db.example:6380/1").connection_pool.connection_kwargs["port"] == 6380
    assert make_redis_client("redis+socket:///run/redis").connection_pool.connection_kwargs["path"] == "/run/redis"


def test_sentinels_are_asked_for_their_master() -> None:
    client = make_redis_client("sentinel://:secret@10.0.0.1;sentinel://10.0.0.2:26380", socket_connect_timeout=1)
    pool = client.connection_pool

    assert isinstance(pool, redis.sentinel.SentinelConnectionPool)
    assert (pool.service_name, pool.connection_kwargs["password"]) == ("mymaster", "secret")
    ports = [each.connection_pool.connection_kwargs["port"] for each in pool.sentinel_manager.sentinels]
    assert ports == [26379, 26380]


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://ada:secret@10.0.0.1;sentinel://10.0.0.2",
        "sentinel://10.0.0.1;sentinel://ada:secret@10.0.0.2",
        "sentinel://ada:secret@10.0.0.1;sentinel://ada:secret@10.0.0.2;sentinel://10.0.0.3",
    ],
)
def test_any_of_the_addresses_may_have_the_name_and_password_of_the_master(url: str) -> None:
    login = make_redis_client(url).connection_pool.connection_kwargs

    assert (login["username"], login["password"]) == ("ada", "secret")


@pytest.mark.parametrize("second", ["sentinel://:other@10.0.0.2", "sentinel://ada:secret@10.0.0.2"])
def test_different_passwords_are_refused(second: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="write the same in all addresses"):
        make_redis_client(f"sentinel://:secret@10.0.0.1;{second}")
