"""The snapshot of a turn: of the newest release, or of any past one (R5, R56)."""

from threading import Lock

from config_admin.releases import head
from config_admin.releases.change_set import get_released_head
from config_admin.releases.head import Head
from config_admin.releases.queries import content_hash_of, manifest_of
from config_admin.snapshot.compile import Compiled, compile_release
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.app_interfaces import Configuration
from convengine.server.deployment import conf

Key = tuple[int, str]
#: Compiled snapshots to keep, of the newest releases and of past ones each.
KEEP = 4


class Snapshots(Configuration):
    """The snapshots of this process. Thread-safe; a turn on a known release never waits."""

    #: A scalar subquery for any statement; `pin` takes its result.
    head_sql = head.HEAD_SQL

    def __init__(self) -> None:
        # Replaced, never changed: readers need no lock.
        self._newest: dict[Key, Compiled] = {}
        self._past: dict[Key, Compiled] = {}
        self._lock = Lock()

    def pin(self, text: str | None) -> Snapshot:
        """The snapshot for a head from `head_sql`; for the same head the same object, without a query.

        Rows that were written outside of the application since the last release get their release first. So does a
        missing head row (null).
        """
        head = Head.parse(text) if text else None
        if head is None or not head.settled:
            row = get_released_head()
            return self._newest_of((row.config_version, row.content_hash))
        return self._newest_of((head.config_version, head.content_hash))

    def current(self) -> Snapshot:
        """The snapshot in force now; one query when it is known."""
        return self.pin(head.read())

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query; for code that runs before pinning."""
        newest = next(reversed(self._newest.values()), None)
        return newest.snapshot if newest else self.current()

    def at(self, config_version: int) -> Snapshot:
        """The snapshot of any release. Raises NoSuchRelease."""
        key = (config_version, content_hash_of(config_version))
        if compiled := self._fresh(self._newest.get(key)) or self._fresh(self._past.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._compile(key[0])
            self._past = _with_entry(self._past, key, compiled)
        return compiled.snapshot

    def _newest_of(self, key: Key) -> Snapshot:
        if compiled := self._fresh(self._newest.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._fresh(self._newest.get(key)) or self._compile(key[0])
            self._newest = _with_entry(self._newest, key, compiled)
        return compiled.snapshot

    def _compile(self, config_version: int) -> Compiled:
        known = [*reversed(self._newest.values()), *reversed(self._past.values())]
        return compile_release(config_version, manifest_of(config_version), conf.get("SETTING_DEFAULTS"), known)

    @staticmethod
    def _fresh(compiled: Compiled | None) -> Compiled | None:
        """The snapshot, unless the deployment's defaults of settings changed, as in tests."""
        if compiled and compiled.snapshot.defaults == conf.get("SETTING_DEFAULTS"):
            return compiled
        return None


def _with_entry(compiled: dict[Key, Compiled], key: Key, new: Compiled) -> dict[Key, Compiled]:
    """The mapping with one more entry at its end, and without the oldest ones."""
    rest = [(k, entry) for k, entry in compiled.items() if k != key]
    return dict([*rest, (key, new)][-KEEP:])


snapshots = Snapshots()
