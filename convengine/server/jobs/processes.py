"""The processes of background jobs on one machine: worker, beat, and the embedded broker; and work for a worker."""

import sys
import tempfile
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import structlog

from convengine.engine.extras import describe_missing
from convengine.server.deployment import conf
from convengine.server.deployment.supervisor import Child

log = structlog.get_logger(__name__)
EMBEDDED = "embedded"
#: Set in the processes of a worker.
is_worker = Event()
_STOP_SECONDS = 10.0
_CELERY = [sys.executable, "-m", "celery", "-A", "convengine.server.jobs.worker", "--quiet"]


class CannotStart(Exception):
    """A required process cannot run here; the message says what is missing."""


def worker() -> Child:
    """Runs jobs and the work that servers send."""
    options = ["--concurrency", "2", "--loglevel", "warning", "--without-gossip", "--without-mingle"]
    # What a worker did not end is done again by another one.
    return Child("worker", [*_CELERY, "worker", *options], stop_seconds=_STOP_SECONDS)


def beat() -> Child:
    """Triggers looks at the jobs. Its state is in the database, so it needs no file."""
    options = ["--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "warning"]
    return Child("beat", [*_CELERY, "beat", *options], stop_seconds=_STOP_SECONDS)


def broker() -> tuple[Child, str]:
    """The embedded broker, and its address. Raises CannotStart."""
    if missing := describe_missing("embedded"):
        raise CannotStart(f"CE_BROKER_URL=embedded: {missing}")
    folder = tempfile.mkdtemp(prefix="ce-broker-")
    command = [sys.executable, "-m", "convengine.server.jobs.broker", folder]
    return Child("broker", command, serves=True), f"redis+socket://{folder}/socket"


def mask_password(url: str) -> str:
    """An address without its password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def hand_over(name: str, *args: Any) -> bool:
    """Send work that `HANDED_WORK` names to a worker; false without a reachable broker.

    Waits for the broker up to a few seconds, so nothing that answers a user may call this.
    """
    if conf.get("BROKER_URL") in ("", EMBEDDED):
        return False
    from kombu.exceptions import OperationalError

    from convengine.server.jobs.worker import do

    try:
        do.apply_async([name, *args], retry=False)
    except OperationalError as error:
        log.warning("broker out of reach, work done here", work=name, error=str(error))
        return False
    return True
