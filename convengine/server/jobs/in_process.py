"""Jobs without a broker: a thread of a server process looks for due jobs and runs them.

Every process of a server may have one; only one of them runs a due job.
"""

import random
import threading
import time

import structlog
from django.db import connection, connections

from convengine.server.deployment import conf
from convengine.server.jobs.running import run_due

log = structlog.get_logger(__name__)


def start() -> None:
    """Start the thread once. It ends with the process: between two batches, or with its batch rolled back."""
    if _thread.ident is None:
        _thread.start()


def _run() -> None:
    if connection.vendor == "postgresql":
        from convengine.server.database.postgresql.watch import be_patient

        be_patient()
    while True:
        # A server that starts has other things to do; and processes that start together spread here.
        time.sleep(conf.get("JOB_TICK_SECONDS") * random.uniform(0.8, 1.2))  # noqa: S311
        try:
            run_due()
        except Exception as error:
            log.error("jobs not looked at", error=str(error), exc_info=error)
        finally:
            connections.close_all()


_thread = threading.Thread(target=_run, name="jobs", daemon=True)
