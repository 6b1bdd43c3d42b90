"""Jobs without a broker: one thread of a server process looks for what is due, and runs it.

Every process of a server may have one: of two that find the same job due, one runs it.
"""

import random
import threading
import time

import structlog
from django.db import connections

from convengine import conf
from convengine.jobs.running import run_due

log = structlog.get_logger(__name__)


class Runner:
    """The thread of this process, if it was started."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start it, once. It ends with the process: a job is left between two batches, or its batch undone."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            # A server that starts has other things to do; and processes that start together part here.
            time.sleep(conf.get("JOB_TICK_SECONDS") * random.uniform(0.8, 1.2))  # noqa: S311
            try:
                run_due()
            except Exception as error:
                log.error("jobs not looked at", error=str(error), exc_info=error)
            finally:
                connections.close_all()


runner = Runner()
