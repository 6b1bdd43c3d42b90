"""Follow a long piece of work: its progress, then its result."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import structlog
from django.db import connections

from config_admin.releases.working_copy import find_working_copy
from config_admin.transfer.import_plan import Progress, ignore_progress
from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import release_connections

T = TypeVar("T")
log = structlog.get_logger(__name__)
#: Answers line by line, each a JSON document.
NDJSON = "application/x-ndjson"


class WorkProgress(NamedTuple):
    """The progress: the current stage, and the number of rows done, of how many."""

    stage: str
    done: int
    of: int


class WorkResult(NamedTuple, Generic[T]):
    result: T


class WorkFailed(RuntimeError):
    """The work failed: unexpectedly, so that the log has the details, or with one of our own errors."""

    def __init__(self, message: str, error: ConvEngineError | None = None) -> None:
        super().__init__(message)
        self.error = error


def follow_work(work: Callable[[Progress], T]) -> Iterator[WorkProgress | WorkResult[T]]:
    """Run the work in a thread of its own, which continues even when nobody listens.

    In a draft it runs here: no other connection sees the rows of the draft. Expected failures of `work` are part of its
    result. Raises WorkFailed.
    """
    if find_working_copy():
        yield WorkResult(work(ignore_progress))
        return
    heard: queue.SimpleQueue[WorkProgress | WorkResult[T] | WorkFailed] = queue.SimpleQueue()
    threading.Thread(target=_run_work, args=(work, heard), name="import", daemon=True).start()
    while True:
        release_connections()
        news = heard.get()
        if isinstance(news, WorkFailed):
            raise news
        yield news
        if isinstance(news, WorkResult):
            return


def stream_lines(
    work: Callable[[Progress], T],
    describe_progress: Callable[[dict[str, Any]], Any],
    describe_result: Callable[[T], Any],
    describe_failure: Callable[[WorkFailed], Any],
) -> Iterator[bytes]:
    try:
        for news in follow_work(work):
            line = describe_progress(news._asdict()) if isinstance(news, WorkProgress) else describe_result(news.result)
            yield dumps(line).encode() + b"\n"
    except WorkFailed as error:
        yield dumps(describe_failure(error)).encode() + b"\n"


def _run_work(work: Callable[[Progress], Any], heard: "queue.SimpleQueue[Any]") -> None:
    """Do the work, and put its progress and its result into the queue; a failure as WorkFailed."""
    try:
        heard.put(WorkResult(work(lambda stage, done, of: heard.put(WorkProgress(stage, done, of)))))
    except ConvEngineError as error:
        heard.put(WorkFailed(error.message, error))
    except Exception:
        log.exception("import failed")
        heard.put(WorkFailed("The import failed and nothing was changed. The server log has the details."))
    finally:
        connections.close_all()
