"""A long piece of work, followed while it runs: how far it is, then what came of it."""

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog
from django.db import connections

from config_admin.transfer.planning import Progress

T = TypeVar("T")
log = structlog.get_logger(__name__)
#: Answers line by line, each a JSON document.
NDJSON = "application/x-ndjson"


@dataclass(frozen=True)
class News:
    """How far it is: what is being done, how many rows are done, of how many."""

    stage: str
    done: int
    of: int


@dataclass(frozen=True)
class Ended(Generic[T]):
    """What came of it."""

    result: T


class Broke(RuntimeError):
    """The work failed in a way that nobody foresaw; the log says how."""


def followed(work: Callable[[Progress], T]) -> Iterator[News | Ended[T]]:
    """Run the work in a thread of its own, which goes on to its end also when nobody listens any more.

    What of `work` is expected to fail is part of its result. Raises Broke.
    """
    heard: queue.SimpleQueue[News | Ended[T] | Broke] = queue.SimpleQueue()
    threading.Thread(target=_run, args=(work, heard), name="import", daemon=True).start()
    while True:
        news = heard.get()
        if isinstance(news, Broke):
            raise news
        yield news
        if isinstance(news, Ended):
            return


def _run(work: Callable[[Progress], Any], heard: "queue.SimpleQueue[Any]") -> None:
    try:
        heard.put(Ended(work(lambda stage, done, of: heard.put(News(stage, done, of)))))
    except Exception:
        log.exception("import failed")
        heard.put(Broke("The import failed, and nothing was changed; the log of the server says why."))
    finally:
        connections.close_all()
