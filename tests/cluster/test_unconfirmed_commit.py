"""A commit whose wait for the synchronous replica is cancelled is no acknowledgement."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.cluster.machine import Cluster, stop_processes, wait_until
from tests.live.client import Talk

pytestmark = pytest.mark.cluster
_WAITING = (
    "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = 'convengine' AND query LIKE 'WITH s0 AS (UPDATE%'"
)


def test_a_turn_whose_commit_no_replica_confirmed_is_not_acknowledged(cluster: Cluster, secret: str) -> None:
    cluster.wait_until_healthy()
    talk = Talk(secret)
    talk.say(cluster.port("server1"), "pay")
    receivers = [pid for node in cluster.replicas() for pid in node.list_processes("walreceiver")]
    assert len(receivers) == 2
    with ThreadPoolExecutor(1) as beside, stop_processes(receivers):
        reply = beside.submit(talk.say, cluster.port("server1"), "no", key=talk.conversation_id)
        wait_until("The commit waits", lambda: cluster.ask("leader", f"SELECT 1 {_WAITING}", as_superuser=True), 10)
        cluster.ask("leader", f"SELECT pg_cancel_backend(pid) {_WAITING}", as_superuser=True)
        answer = reply.result(30)

    assert answer
    assert (answer.status, answer.body["errorCode"]) == (503, "CONVERSATION_PERSIST_FAILED")
    again = talk.say(cluster.port("server1"), "no", key=talk.conversation_id)
    assert again
    assert (again.status, again.body["turnNo"]) == (200, 2)
