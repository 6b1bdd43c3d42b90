"""The full health check in the background of a process: started on request, cached for its release, with its progress.

The page shows the progress; a caller of the API waits.
"""

import threading
from dataclasses import dataclass, field

import structlog
from django.db import connections

from config_admin.health.check import Health, check_all
from config_admin.validation.world import World
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.database.sql import release_connections

log = structlog.get_logger(__name__)
#: Checks to keep: pages of other drafts must not begin the check of a page again and again.
_KEPT = 4


@dataclass
class CheckRun:
    snapshot: Snapshot
    world: World
    #: The current check, how many are done, and how many there are.
    part: str = ""
    done: int = 0
    parts: int = 1
    health: Health | None = None
    failed: bool = False
    #: True when its findings are stored. A page stores them before it shows them.
    stored: bool = False
    ended: threading.Event = field(default_factory=threading.Event, repr=False)

    def wait(self, seconds: float) -> Health | None:
        """The result of the check. Returns None when it does not end in time, or failed."""
        release_connections()
        self.ended.wait(seconds)
        return self.health


class Runs:
    """The newest checks of this process: of what is live, and of drafts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: tuple[CheckRun, ...] = ()

    def of(self, snapshot: Snapshot, world: World) -> CheckRun:
        """The check of this configuration; started if there is none, or if it failed."""
        with self._lock:
            for known in self._newest:
                if not known.failed and known.snapshot is snapshot and known.world == world:
                    return known
            run = CheckRun(snapshot, world)
            self._newest = (run, *self._newest)[:_KEPT]
        threading.Thread(target=_run_check, args=(run,), name="health check", daemon=True).start()
        return run


def _run_check(run: CheckRun) -> None:
    """Run all health checks and store the result in the run. A failure is logged and marked there, not raised."""

    def progress(part: str, done: int, parts: int) -> None:
        run.part, run.done, run.parts = part, done, parts

    try:
        run.health = check_all(run.snapshot, run.world, progress=progress)
    except Exception:
        run.failed = True
        log.exception("health check failed", config_version=run.snapshot.config_version)
    finally:
        connections.close_all()
        run.ended.set()


runs = Runs()
