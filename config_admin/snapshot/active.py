"""Which configuration a turn runs on: the snapshot of the newest release, or of any past one (R5, R56)."""

from threading import Lock

from config_admin.releases import head
from config_admin.releases.change_set import released
from config_admin.releases.head import Head
from config_admin.releases.queries import content_hash_of, manifest_of
from config_admin.snapshot.compile import Compiled, compile_release
from convengine import conf
from convengine.domain.snapshot import Snapshot

Key = tuple[int, str]
#: Compiled snapshots that are kept, of the newest releases and of past ones each.
KEEP = 4


class Snapshots:
    """The snapshots of this process. Safe to use from many threads; a turn on a known release waits for nobody."""

    #: A scalar subquery that any statement may carry; what it yields is what `pin` wants (P9).
    head_sql = head.HEAD_SQL

    def __init__(self) -> None:
        # Replaced, never changed: readers need no lock.
        self._newest: dict[Key, Compiled] = {}
        self._past: dict[Key, Compiled] = {}
        self._lock = Lock()

    def pin(self, text: str | None) -> Snapshot:
        """The snapshot for a head as `head_sql` yielded it; for the same head the same object, and no query.

        When rows were written past the application since the last release, they get their release first (R56).
        Null, for a missing head row, is the same case.
        """
        found = Head.parse(text) if text else None
        if found is None or not found.settled:
            row = released()
            return self._newest_of((row.config_version, row.content_hash))
        return self._newest_of((found.config_version, found.content_hash))

    def current(self) -> Snapshot:
        """The snapshot in force now; one query when it is known."""
        return self.pin(head.read())

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query; what the shell reads before it pins."""
        newest = next(reversed(self._newest.values()), None)
        return newest.snapshot if newest else self.current()

    def at(self, config_version: int) -> Snapshot:
        """The snapshot of any release that ever was. Raises NoSuchRelease."""
        key = (config_version, content_hash_of(config_version))
        if compiled := self._fresh(self._newest.get(key)) or self._fresh(self._past.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._compile(key[0])
            self._past = _kept(self._past, key, compiled)
        return compiled.snapshot

    def _newest_of(self, key: Key) -> Snapshot:
        if compiled := self._fresh(self._newest.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._fresh(self._newest.get(key)) or self._compile(key[0])
            self._newest = _kept(self._newest, key, compiled)
        return compiled.snapshot

    def _compile(self, config_version: int) -> Compiled:
        known = [*reversed(self._newest.values()), *reversed(self._past.values())]
        return compile_release(config_version, manifest_of(config_version), conf.get("SETTING_DEFAULTS"), known)

    @staticmethod
    def _fresh(compiled: Compiled | None) -> Compiled | None:
        """The snapshot unless the deployment's own defaults of settings changed, as tests make them do."""
        if compiled and compiled.snapshot.defaults == conf.get("SETTING_DEFAULTS"):
            return compiled
        return None


def _kept(compiled: dict[Key, Compiled], key: Key, new: Compiled) -> dict[Key, Compiled]:
    """The mapping with one more at its end, and no more than are kept."""
    rest = [(k, one) for k, one in compiled.items() if k != key]
    return dict([*rest, (key, new)][-KEEP:])


snapshots = Snapshots()
