"""Work that no user waits for: a few threads of this process, and a limited queue."""

import threading
from collections.abc import Callable
from queue import Full, Queue

import structlog
from django.db import connections

log = structlog.get_logger(__name__)
Job = Callable[[], object]
#: Number of threads, and maximum length of the queue; more jobs are dropped and logged.
_THREADS = 4
_WAITING = 1000


class Background:
    """The queue of this process. Its jobs are lost when the process ends."""

    def __init__(self, threads: int = _THREADS, waiting: int = _WAITING) -> None:
        self._jobs: Queue[Job] = Queue(waiting)
        self._wanted = threads
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def submit(self, job: Job) -> bool:
        """Queue a job; false when the queue is full, or when the system gives the process no thread for it."""
        # Started at first use, so that a server that forks its workers has them in each.
        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            for number in range(len(self._threads), self._wanted):
                thread = threading.Thread(target=self._run, name=f"background-{number}", daemon=True)
                try:
                    thread.start()
                except RuntimeError as error:
                    log.error("no thread for work in the background", threads=len(self._threads), error=str(error))
                    break
                self._threads.append(thread)
            has_thread = bool(self._threads)
        try:
            if has_thread:
                self._jobs.put_nowait(job)
        except Full:
            log.warning("too much work in the background, job dropped", waiting=self._jobs.qsize())
            return False
        return has_thread

    def finish(self) -> None:
        """Wait until all submitted jobs are done."""
        self._jobs.join()

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                job()
            except Exception as error:
                log.error("job in the background failed", error=str(error), exc_info=error)
            finally:
                connections.close_all()
                self._jobs.task_done()


background = Background()
