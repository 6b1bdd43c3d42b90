"""Pages of past turns read a replica, and the primary when the replica is out or too far behind."""

import time
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.addresses import timeline_url
from convengine.server.database import replica
from convengine.server.sessions.models import CeConversation
from tests.cluster.machine import Cluster, stop_processes, wait_until

pytestmark = pytest.mark.cluster


@pytest.fixture
def reader() -> Client:
    """Somebody who is signed in and may see everything."""
    replica._Rest.until = 0.0
    client = Client()
    client.force_login(User.objects.create_superuser(f"reader-{uuid.uuid4()}"))
    return client


def start_conversation() -> uuid.UUID:
    key = uuid.uuid4()
    CeConversation.objects.create(conversation_id=key, remote_jid=str(key))
    return key


def read_page(reader: Client, address: str) -> tuple[int, bool]:
    """The status of a page, and whether it says as of when it is."""
    response = reader.get(address)
    return response.status_code, b"data-as-of" in response.content


def test_a_page_of_a_conversation_that_began_a_moment_ago_comes_from_the_replica(reader: Client) -> None:
    with CaptureQueriesContext(connections["replica"]) as queries:
        assert read_page(reader, timeline_url(start_conversation())) == (200, True)
    assert any("ce_conversation" in query["sql"] for query in queries)


def test_the_search_and_its_files_read_the_replica(reader: Client) -> None:
    address = reverse("admin:audit_ceaudit_find")

    assert read_page(reader, address) == (200, True)
    with CaptureQueriesContext(connections["replica"]) as queries:
        b"".join(iter(reader.get(f"{address}?export=csv")))
    assert any("ce_conversation_history" in query["sql"] for query in queries)


def test_a_replica_that_is_behind_shows_the_past_until_it_is_too_far_behind(
    cluster: Cluster, reader: Client, settings: Any
) -> None:
    old = start_conversation()
    wait_until("The replica has it", lambda: read_page(reader, timeline_url(old))[1])
    settings.CONVENGINE = {**settings.CONVENGINE, "REPLICA_MAX_LAG_SECONDS": 60}
    # Patroni would continue a replay that PostgreSQL was told to pause.
    replaying = [pid for node in cluster.replicas() for pid in node.list_processes("startup")]
    assert len(replaying) == 2
    with stop_processes(replaying):
        new = start_conversation()
        time.sleep(2)
        assert read_page(reader, timeline_url(old)) == (200, True)
        assert read_page(reader, timeline_url(new)) == (404, False)

        settings.CONVENGINE = {**settings.CONVENGINE, "REPLICA_MAX_LAG_SECONDS": 1}
        assert read_page(reader, timeline_url(new)) == (200, False)


def test_without_a_replica_pages_read_the_primary_at_once(cluster: Cluster, reader: Client) -> None:
    key = start_conversation()
    proxy = cluster.others["haproxy-postgresql"]
    proxy.environment = {**proxy.environment, "REPLICAS_ADDRESS": f"127.0.0.1:{cluster.port('nowhere')}"}
    proxy.kill()
    proxy.start()
    time.sleep(5)
    # They led through the same proxy.
    connections.close_all()
    try:
        began = time.monotonic()
        assert read_page(reader, timeline_url(key)) == (200, False)
        assert time.monotonic() - began < 5
        began = time.monotonic()
        assert read_page(reader, timeline_url(key)) == (200, False)
        assert time.monotonic() - began < 1
    finally:
        proxy.environment = {**proxy.environment, "REPLICAS_ADDRESS": f"127.0.0.1:{cluster.port('replicas')}"}
        proxy.kill()
        proxy.start()
        time.sleep(5)
        connections.close_all()
