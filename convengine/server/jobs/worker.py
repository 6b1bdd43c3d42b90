"""The Celery app: `celery -A convengine.server.jobs.worker worker` (and `beat`).

Beat only triggers: what is due is in `ce_job`. So a message that is lost, comes twice, or was sent by two beats changes
nothing, and another worker continues after one that dies.
"""

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import setup_logging, task_postrun, worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convengine.settings")

from convengine.server.database.sql import release_connections
from convengine.server.deployment import conf
from convengine.server.jobs.processes import is_worker

app = Celery("convengine", broker=conf.get("BROKER_URL"), set_as_current=False)
app.conf.update(
    task_default_queue="convengine",
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # A message is acknowledged after its work, so another worker gets the message of a machine that fails. Work that
    # ends its own process is not sent again: it would end all others.
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    # The job's own lease refuses a message that comes again during its run.
    broker_transport_options={
        "visibility_timeout": conf.get("JOB_LEASE_SECONDS"),
        "master_name": conf.get("SENTINEL_MASTER"),
        "socket_connect_timeout": 5,
        "socket_timeout": 30,
    },
    beat_schedule={
        "look for jobs that are due": {
            "task": "convengine.tick",
            "schedule": conf.get("JOB_TICK_SECONDS"),
            # Beats from a time without workers are not needed later.
            "options": {"expires": conf.get("JOB_TICK_SECONDS")},
        }
    },
)


# Celery would close the whole pool of connections after each task, which threads of this process use meanwhile.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize


@worker_init.connect  # type: ignore[untyped-decorator]
def note_worker(**kwargs: Any) -> None:
    """Let this process and its children know what they are."""
    is_worker.set()


@task_postrun.connect  # type: ignore[untyped-decorator]
def _release_connections(**kwargs: Any) -> None:
    """Return the connections of this thread to the pool."""
    release_connections()


@setup_logging.connect  # type: ignore[untyped-decorator]
def _keep_our_logs(**kwargs: Any) -> None:
    """Use Django's logging settings."""


@app.task(name="convengine.tick")  # type: ignore[untyped-decorator]
def tick() -> None:
    """Send every due job to a worker."""
    from convengine.server.jobs import running

    for name in running.due():
        run_job.apply_async([name], expires=conf.get("JOB_TICK_SECONDS") * 6)


@app.task(name="convengine.run_job")  # type: ignore[untyped-decorator]
def run_job(name: str) -> None:
    """Run a job that is due, unless another process does. If this process ends meanwhile, another one goes on."""
    from convengine.server.jobs import running

    running.run_or_start(name)


@app.task(name="convengine.do")  # type: ignore[untyped-decorator]
def do(name: str, *args: Any) -> None:
    """Do work that a process sent, by its name in the settings."""
    conf.import_from_path(conf.get("HANDED_WORK")[name])(*args)
