"""The threads that run requests: a fixed number runs at once; the others wait for something outside."""

import contextvars
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

import structlog

from convengine.server.resilience.waiting import Overloaded, running_slots

log = structlog.get_logger(__name__)
Work = Callable[[], None]
#: An unused thread ends after these seconds.
_IDLE_SECONDS = 30.0
#: A thread that runs for this number of seconds without a wait stands.
STANDING_SECONDS = 10.0


class RequestThreads:
    """Runs `running` requests at once; a thread that waits for something outside makes room for the next request.

    The thread that worked last works next, so that its caches are warm and surplus threads end.
    """

    def __init__(self, running: int, most_queued: int) -> None:
        self._lock = threading.Lock()
        self._limit = running
        self._free = running
        self._most_queued = most_queued
        self._queued: deque[Work] = deque()
        self._resuming: deque[threading.Event] = deque()
        self._idle: list[_Thread] = []
        self._threads = 0
        #: By thread, since when it holds its slot.
        self._since: dict[int, float] = {}

    def submit(self, work: Work) -> None:
        """Run it as soon as a slot is free.

        Raises Overloaded when too many wait for one, or when the system gives the process no more threads.
        """
        with self._lock:
            if not self._free:
                if len(self._queued) >= self._most_queued:
                    raise Overloaded()
                self._queued.append(work)
                return
            if not self._start(work):
                raise Overloaded()
            self._free -= 1

    def release(self) -> None:
        """Give the running slot of this thread to a thread that resumes, or to the next request."""
        self.note_end()
        with self._lock:
            if self._resuming:
                self._resuming.popleft().set()
            elif self._queued and self._start(self._queued[0]):
                self._queued.popleft()
            else:
                # A request that is queued for want of a thread is run by the next thread that finishes.
                self._free += 1

    def acquire(self) -> None:
        """Take a running slot, ahead of new requests."""
        with self._lock:
            granted = None if self._free else threading.Event()
            if granted:
                self._resuming.append(granted)
            else:
                self._free -= 1
        if granted:
            granted.wait()
        self.note_start()

    def note_start(self) -> None:
        """This thread holds a slot from now on."""
        self._since[threading.get_ident()] = time.monotonic()

    def note_end(self) -> None:
        """This thread holds its slot no longer."""
        self._since.pop(threading.get_ident(), None)

    def all_stand(self) -> bool:
        """Whether every slot is held by a thread that stands: no other request can be answered."""
        since = tuple(self._since.values())
        return len(since) >= self._limit and time.monotonic() - max(since) > STANDING_SECONDS

    def count(self) -> Mapping[str, int]:
        """Requests that run, requests and threads that wait for a running slot, the limit, and all threads."""
        with self._lock:
            return {
                "running": self._limit - self._free,
                "queued": len(self._queued),
                "resuming": len(self._resuming),
                "limit": self._limit,
                "threads": self._threads,
            }

    def _start(self, work: Work) -> bool:
        """Let a thread run it; false when the system gives no more threads."""
        if self._idle:
            self._idle.pop().works.put(work)
            return True
        thread = _Thread(self)
        thread.works.put(work)
        try:
            thread.start()
        except RuntimeError as error:
            log.error("no thread for a request", threads=self._threads, error=str(error))
            return False
        self._threads += 1
        return True

    def finish(self, thread: "_Thread") -> Work | None:
        """The next work for a thread that has finished one. Returns None when it rests."""
        with self._lock:
            if self._queued and not self._resuming:
                return self._queued.popleft()
            self._idle.append(thread)
            if self._resuming:
                self._resuming.popleft().set()
            else:
                self._free += 1
            return None

    def may_end(self, thread: "_Thread") -> bool:
        """True for a thread that rested long, unless it gets work at this moment."""
        with self._lock:
            if thread not in self._idle or self._threads <= self._limit:
                return False
            self._idle.remove(thread)
            self._threads -= 1
            return True


class _Thread(threading.Thread):
    def __init__(self, threads: RequestThreads) -> None:
        super().__init__(name="request", daemon=True)
        self.works: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._all = threads

    def run(self) -> None:
        while True:
            try:
                work: Work | None = self.works.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                if self._all.may_end(self):
                    return
                continue
            while work:
                # Each request has a context of its own, so that nothing of it reaches the next.
                contextvars.Context().run(self._run_with_slot, work)
                work = self._all.finish(self)

    def _run_with_slot(self, work: Work) -> None:
        running_slots.set(self._all)
        self._all.note_start()
        try:
            work()
        except BaseException as error:
            # The slot of a thread that dies would be lost.
            log.error("request ended its thread", exc_info=error)
        finally:
            self._all.note_end()
