"""Can this process take turns? If not, which part is missing.

The texts name parts and nothing else: anybody may read them. The log and the metrics have the details.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog

from convengine.server.database.sql import is_sign_in_refused
from convengine.server.deployment import conf
from convengine.server.deployment.redis_client import make_redis_client
from convengine.server.jobs.processes import EMBEDDED
from convengine.server.jobs.running import all_jobs
from convengine.server.probes.database_state import DatabaseState

log = structlog.get_logger(__name__)
#: Seconds in which an answer is given, whatever hangs.
SECONDS = 1.8
OK, NO_ANSWER, UNREACHABLE, REFUSED = "ok", "no answer in time", "unreachable", "refuses user or password"
READ_ONLY, STANDING = "read-only", "all are busy with requests that do not end"
#: Seconds for which a result is given again, so that nobody can load the database by asking.
_FRESH = 1.0


T = TypeVar("T")


class BoundedCheck(Generic[T]):
    """Work in a thread of its own. While one run hangs, no second one starts."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self._name, self._work = name, work
        self._lock = threading.Lock()
        self._run: Future[T] | None = None
        self._ended = 0.0

    def start(self) -> "Future[T]":
        """The run that is under way or has just ended, or a new one."""
        with self._lock:
            run = self._run
            if run is None or (run.done() and time.monotonic() - self._ended > _FRESH):
                run = self._run = Future()
                threading.Thread(target=self._do, args=(run,), name=self._name, daemon=True).start()
            return run

    def _do(self, run: "Future[T]") -> None:
        try:
            result = self._work()
        except BaseException as error:
            self._ended = time.monotonic()
            run.set_exception(error)
        else:
            self._ended = time.monotonic()
            run.set_result(result)


@dataclass(frozen=True)
class ServicePart:
    """A part that turns or jobs need."""

    name: str
    text: str = OK
    #: Without it turns fail.
    is_required: bool = True

    @property
    def is_ok(self) -> bool:
        return self.text == OK


class Readiness:
    """The checks of this process."""

    def __init__(self) -> None:
        self._state = DatabaseState()
        self._database = BoundedCheck("readiness of the database", self._read_database)
        self._broker = BoundedCheck("readiness of the broker", ping_broker)
        self._logged: Sequence[ServicePart] = ()

    def check(self, *, all_threads_stand: bool = False) -> list[ServicePart]:
        """All parts, in time. The server says whether all its threads stand."""
        ends = time.monotonic() + SECONDS
        runs = {"broker": self._broker.start()} if conf.get("BROKER_URL") not in ("", EMBEDDED) else {}
        parts = describe_database(*self._wait_for_state(self._database.start(), ends))
        parts.append(ServicePart("threads", STANDING if all_threads_stand else OK))
        for name, run in runs.items():
            parts.append(ServicePart(name, _wait(run, ends), is_required=False))
        self._log_change(parts)
        return parts

    def read_state(self) -> DatabaseState:
        """What could be read of the database, in time."""
        return self._wait_for_state(self._database.start(), time.monotonic() + SECONDS)[0]

    def _wait_for_state(self, run: "Future[DatabaseState]", ends: float) -> tuple[DatabaseState, str]:
        """What was read, and why the rest was not."""
        try:
            return run.result(max(ends - time.monotonic(), 0)), NO_ANSWER
        except TimeoutError:
            return self._state, UNREACHABLE if run.done() else NO_ANSWER
        except Exception as error:
            return self._state, REFUSED if is_sign_in_refused(error) else UNREACHABLE

    def _read_database(self) -> DatabaseState:
        state = self._state = DatabaseState()
        try:
            state.read()
        except Exception as error:
            log.warning("probe could not read the database", error=f"{type(error).__name__}: {error}")
            raise
        return state

    def _log_change(self, parts: Sequence[ServicePart]) -> None:
        if any(not part.is_ok for part in parts) and parts != self._logged:
            log.warning("not ready", **{part.name: part.text for part in parts if not part.is_ok})
        elif self._logged and not all(part.is_ok for part in self._logged) and all(part.is_ok for part in parts):
            log.info("ready again")
        self._logged = parts


def describe_database(state: DatabaseState, missing: str) -> list[ServicePart]:
    """The parts that the database tells; `missing` says why a part was not read."""

    def describe(holds: bool | None, otherwise: str) -> str:
        return missing if holds is None else OK if holds else otherwise

    overdue = state.overdue
    in_time = None if overdue is None else not any(map(is_late, overdue, overdue.values()))
    return [
        ServicePart("database", describe(state.is_writable if state.answers else None, READ_ONLY)),
        ServicePart("migrations", describe(state.is_migrated, "not applied")),
        ServicePart("configuration", describe(state.is_configured, "no release can be loaded")),
        ServicePart("jobs", describe(in_time, "late"), is_required=False),
    ]


def is_late(job: str, overdue_seconds: float) -> bool:
    """Whether a job should have begun."""
    return overdue_seconds >= all_jobs()[job].schedule.late_seconds


def ping_broker() -> None:
    """Raises when the broker does not answer."""
    client = make_redis_client(conf.get("BROKER_URL"), socket_connect_timeout=SECONDS, socket_timeout=SECONDS)
    try:
        client.ping()
    finally:
        client.close()


def _wait(run: "Future[Any]", ends: float) -> str:
    try:
        run.result(max(ends - time.monotonic(), 0))
    except TimeoutError:
        return UNREACHABLE if run.done() else NO_ANSWER
    except Exception:
        return UNREACHABLE
    return OK


readiness = Readiness()
