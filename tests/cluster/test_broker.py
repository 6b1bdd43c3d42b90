"""A restart of the broker loses no job, and a restart of the bus no event."""

import time

import pytest

from convengine.server.jobs.models import CeJob, CeJobRun
from tests.cluster.machine import Cluster, wait_until
from tests.live.client import Talk
from tests.live.streaming import Watcher

pytestmark = pytest.mark.cluster


def test_jobs_run_again_when_the_broker_comes_back_empty(cluster: Cluster) -> None:
    runs = CeJobRun.objects.filter(job_name="close_sessions", status="OK")
    wait_until("The job runs", runs.exists)
    broker = cluster.others["redis"]

    broker.kill()
    before = runs.count()
    CeJob.objects.filter(name="close_sessions").update(due_at="2020-01-01T00:00Z")
    time.sleep(3)
    assert runs.count() == before
    broker.start()

    wait_until("The job that was due runs", lambda: runs.count() > before)
    assert not CeJob.objects.filter(name="close_sessions", due_at__lt="2021-01-01T00:00Z").exists()


def test_a_stream_gets_every_event_across_a_restart_of_the_bus(cluster: Cluster, secret: str) -> None:
    talk = Talk(secret)
    port, streams = cluster.port("server1"), cluster.port("streams1")
    talk.say(port, "pay")
    watcher = Watcher(streams, secret, talk.conversation_id).start()
    talk.say(port, "no")
    wait_until("Events arrive", lambda: any(event.data["turnNo"] == 2 for event in watcher.events), 30)

    cluster.others["redis"].kill()
    talk.say(port, "pay")
    cluster.others["redis"].start()
    talk.say(port, "no")

    def has_all() -> bool:
        ends = {event.data["turnNo"] for event in watcher.events if event.name == "ENGINE_RETURN"}
        return {2, 3, 4} <= ends

    wait_until("The events of all turns arrive", has_all, 30)
    watcher.end()
