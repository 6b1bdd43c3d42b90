"""The snapshot of a turn: of the newest release, or of any past one."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Generic, TypeVar

import structlog
from django.db import DatabaseError

from config_admin.releases import head
from config_admin.releases.change_set import get_released_head
from config_admin.releases.choose_release import (
    Audience,
    ConversationMove,
    UnderWay,
    build_choice,
    read_moves,
    read_stopped_releases,
)
from config_admin.releases.compile import Compiled, compile_release
from config_admin.releases.head import Head
from config_admin.releases.models import CeGradualRelease
from config_admin.releases.queries import NoSuchRelease, content_hash_of, manifest_of
from config_admin.releases.working_copy import WorkingCopy, find_working_copy
from convengine.engine.errors import ConfigInvalid
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.releases import ReleaseChoice, ReleaseReason
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import Configuration
from convengine.server.observability import metrics

log = structlog.get_logger(__name__)

Key = tuple[int, str]
K = TypeVar("K")
V = TypeVar("V")
#: Compiled snapshots to keep, of the newest releases and of past ones each.
KEEP = 4
#: Older releases on which conversations may stay.
MANY = 16


class _Newest(Generic[K, V]):
    """What belongs to the newest key: read at its first use, and given up for that of the next one."""

    def __init__(self) -> None:
        # Replaced, never changed: readers need no lock.
        self._known: dict[K, V] = {}

    def get(self, key: K, read: Callable[[K], V]) -> V:
        known = self._known
        if key not in known:
            known = self._known = {key: read(key)}
        return known[key]


class Snapshots(Configuration):
    """The snapshots of this process. Thread-safe; a turn on a known release never waits."""

    #: A scalar subquery for any statement; `pin` takes its result.
    head_sql = head.HEAD_SQL

    def __init__(self) -> None:
        # Replaced, never changed: readers need no lock.
        self._newest: dict[Key, Compiled] = {}
        self._past: dict[Key, Compiled] = {}
        #: Older releases on which turns run, and the moves that belong to each newest release.
        self._in_use: dict[Key, Compiled] = {}
        self._moves = _Newest[Key, Sequence[ConversationMove]]()
        #: The gradual releases that were stopped before each newest release.
        self._stopped = _Newest[Key, frozenset[int]]()
        self._audiences = _Newest[str, Audience | None]()
        #: The content hashes of older releases, by the newest release and their number.
        self._hashes: dict[tuple[Key, int], str] = {}
        self._lock = Lock()

    def pin(self, text: str | None) -> Snapshot:
        """The snapshot for a head from `head_sql`; for the same head the same object, without a query.

        Rows that were written outside of the application since the last release get their release first. So does a
        missing head row (null). For a release that cannot be loaded it is the last one that could. Raises ConfigInvalid
        when this process has none.
        """
        return self._get_newest(_settle(text)[0])

    def choose(
        self, text: str | None, conversation: Conversation, last_release: int | None, *, has_just_begun: bool = False
    ) -> tuple[Snapshot, ReleaseChoice | None]:
        """The snapshot for the next turn of a conversation, and why. The reason is None for simply the newest one.

        `text`: a head from `head_sql`. `last_release`: that of the last turn; None if there was none or it is not
        stored any more. `has_just_begun`: the last turn began the session. Raises ConfigInvalid.
        """
        key, audience_key = _settle(text)
        newest = target = self._get_newest(key)
        side = None
        if audience_key and (audience := self._audiences.get(audience_key, _find_audience)):
            is_in = audience.includes(conversation)
            side = ReleaseReason.AUDIENCE if is_in else ReleaseReason.NOT_IN_AUDIENCE
            target = newest if is_in else self._get_older((audience.parent_version, audience.parent_hash))
        reason = move = None
        if (last_release is not None or conversation.turn_count) and last_release != target.config_version:
            under_way = UnderWay(
                conversation,
                last_release or 0,
                target,
                has_just_begun,
                lambda: self._moves.get(key, lambda _: read_moves(key[0])),
                lambda: self._stopped.get(key, lambda _: read_stopped_releases()),
                lambda version: self._get_older_by_number(key, version),
            )
            target, reason, move = under_way.choose()
        return target, build_choice(reason, move, newest.config_version, side)

    def current(self) -> Snapshot:
        """The snapshot in force now, or that of the open draft; one query when it is known."""
        copy = find_working_copy()
        return self.of_draft(copy) if copy else self.pin(head.read())

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query; for code that runs before pinning."""
        newest = next(reversed(self._newest.values()), None)
        return newest.snapshot if newest and not find_working_copy() else self.current()

    def of_draft(self, copy: WorkingCopy) -> Snapshot:
        """The snapshot of a draft; it has the number of the release below it."""
        key = (copy.config_version, copy.content_hash)
        if compiled := self._check_fresh(self._past.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._compile(key, copy)
            self._past = _with_entry(self._past, key, compiled)
        return compiled.snapshot

    def at(self, config_version: int) -> Snapshot:
        """The snapshot of any release. Raises NoSuchRelease."""
        key = (config_version, content_hash_of(config_version))
        if compiled := self._check_fresh(self._newest.get(key)) or self._check_fresh(self._past.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = self._compile(key)
            self._past = _with_entry(self._past, key, compiled)
        return compiled.snapshot

    def _get_older_by_number(self, newest: Key, config_version: int) -> Snapshot:
        """The snapshot of an older release. Its content hash is read once for each newest release.

        Raises NoSuchRelease, also for a release that cannot be loaded any more.
        """
        known = self._hashes
        content_hash = known.get((newest, config_version))
        if content_hash is None:
            content_hash = content_hash_of(config_version)
            recent = known if len(known) < MANY else {}
            self._hashes = {**recent, (newest, config_version): content_hash}
        try:
            return self._get_older((config_version, content_hash))
        except DatabaseError:
            raise
        except Exception as fault:
            metrics.RELEASE_FAILURES.add()
            log.error("older release cannot be loaded", release=config_version, error=repr(fault), exc_info=fault)
            raise NoSuchRelease(config_version) from fault

    def _get_older(self, key: Key) -> Snapshot:
        """The snapshot of an older release on which turns run; those of drafts and pages do not replace it."""
        if compiled := self._check_fresh(self._newest.get(key)) or self._check_fresh(self._in_use.get(key)):
            return compiled.snapshot
        with self._lock:
            compiled = (
                self._check_fresh(self._in_use.get(key)) or self._check_fresh(self._past.get(key)) or self._compile(key)
            )
            self._in_use = _with_entry(self._in_use, key, compiled, MANY)
        return compiled.snapshot

    def _get_newest(self, key: Key) -> Snapshot:
        """The snapshot of a newest release; if that cannot be loaded, the last one that could.

        Raises ConfigInvalid if this process has none, and DatabaseError, which says nothing about the release.
        """
        if compiled := self._check_fresh(self._newest.get(key)):
            return compiled.snapshot
        with self._lock:
            try:
                compiled = self._check_fresh(self._newest.get(key)) or self._compile(key)
            except DatabaseError:
                raise
            except Exception as fault:
                metrics.RELEASE_FAILURES.add()
                log.error("release cannot be loaded", release=key[0], error=repr(fault), exc_info=fault)
                if last := next(reversed(self._newest.values()), None):
                    return last.snapshot
                raise ConfigInvalid(
                    f"Release {key[0]} cannot be loaded. Publish a new release, or roll back to an older one."
                ) from fault
            self._newest = _with_entry(self._newest, key, compiled)
            metrics.RELEASE.set(key[0])
        return compiled.snapshot

    def content_hash(self, config_version: int) -> str:
        """The hash of a release's content, as it is stored; blank for a release that does not exist."""
        try:
            return content_hash_of(config_version)
        except NoSuchRelease:
            return ""

    def _compile(self, key: Key, copy: WorkingCopy | None = None) -> Compiled:
        """Compile a release, or a draft if there is a copy; reuses the parts of all snapshots that this process has."""
        config_version, content_hash = key
        known = [
            *reversed(self._newest.values()),
            *reversed(self._in_use.values()),
            *reversed(self._past.values()),
        ]
        manifest, blobs = (copy.manifest, copy.blobs) if copy else (manifest_of(config_version), None)
        compiled = compile_release(config_version, manifest, conf.get("SETTING_DEFAULTS"), known, blobs)
        compiled.snapshot.content_hash = content_hash
        return compiled

    @staticmethod
    def _check_fresh(compiled: Compiled | None) -> Compiled | None:
        """The snapshot, unless the deployment's defaults of settings changed, as in tests."""
        if compiled and compiled.snapshot.defaults == conf.get("SETTING_DEFAULTS"):
            return compiled
        return None


def _find_audience(key: str) -> Audience | None:
    """The audience under a key of the head. Returns None if there never was a gradual release.

    A key that was renewed since the head was read means the audience of now.
    """
    rows = CeGradualRelease.objects.all()
    row = rows.filter(key=key).first() or rows.order_by("-gradual_id").first()
    return Audience.of(row) if row else None


def _settle(text: str | None) -> tuple[Key, str]:
    """The newest release and the key of its audience, for the text of a head.

    Writes outside of the application get their release first.
    """
    parsed = Head.parse(text) if text else None
    if parsed is None or not parsed.settled:
        row = get_released_head()
        return (row.config_version, row.content_hash), row.audience
    return (parsed.config_version, parsed.content_hash), parsed.audience


def _with_entry(compiled: dict[Key, Compiled], key: Key, new: Compiled, keep: int = KEEP) -> dict[Key, Compiled]:
    """The mapping with one more entry at its end, and without the oldest ones."""
    rest = [(k, entry) for k, entry in compiled.items() if k != key]
    return dict([*rest, (key, new)][-keep:])


snapshots = Snapshots()
