"""Make a release: compare rows that may have changed with the newest release, and store the differences.

The same function serves forms, scripts, upgrades and SQL. It works inside the transaction of the change, with the head
locked.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection, models, transaction
from django.utils import timezone

from config_admin.releases import content, head, tree
from config_admin.releases.blobs import Blobs, canonical, hash_of
from config_admin.releases.changes import ChangeSet
from config_admin.releases.content import control_plane
from config_admin.releases.models import AMENDING, CeConfigHead, CeRelease, Origin
from config_admin.releases.queries import manifest_of
from config_admin.releases.row_history import write_history


@dataclass
class Findings:
    """The result of a comparison: the trees of the tables now, and the changed rows."""

    blobs: Blobs
    manifest: dict[str, str]
    differences: dict[str, list[tree.Difference]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The number of changed rows by table."""
        counts = ((control_plane()[table]._meta, len(rows)) for table, rows in self.differences.items())
        return ", ".join(f"{n} {opts.verbose_name if n == 1 else opts.verbose_name_plural}" for opts, n in counts)


@dataclass(frozen=True)
class _Made:
    """Among the transaction's on-commit calls: this transaction made that release.

    A rollback, also of a savepoint, forgets it together with the release.
    """

    config_version: int
    change_set: UUID
    implicit: bool

    def __call__(self) -> None:
        """Nothing to do at the commit."""


def publish(change: ChangeSet) -> None:
    """Release the changes of a change set, if any; `change.release` names it. Call it in a transaction.

    A second call for the same change set, or for the next write of a transaction without one, amends the release of
    this transaction, which nobody else has seen yet.
    """
    locked = head.lock_head()
    change.account(locked.write_counter)
    findings = _compare(change, manifest_of(locked.config_version))
    if findings.differences:
        change.release = _release(change, findings, locked)
    if findings.differences or not locked.settled:
        locked.released_counter = locked.write_counter
        locked.save()


def settle(origin: Origin, *, everything: bool = False) -> CeConfigHead:
    """Release writes outside of the application since the last release, if any (R56).

    Two processes that find the same writes wait for each other here; the second finds them released. `everything`
    compares all rows even if no write was counted.
    """
    with transaction.atomic():
        locked = head.lock_head()
        if not locked.settled or everything:
            publish(ChangeSet(origin, everything=True))
            locked = head.lock_head()
        return locked


def _compare(change: ChangeSet, manifest: dict[str, str]) -> Findings:
    findings = Findings(Blobs(), dict(manifest))
    for table in content.control_plane():
        if change.everything or table in change.tables:
            whole = change.everything or table in change.touched_tables
            _compare_table(findings, table, None if whole else change.touched[table])
    return findings


def _compare_table(findings: Findings, table: str, touched: Iterable[Any] | None) -> None:
    before = findings.manifest.get(table)
    keys = None if touched is None else list(touched)
    rows = content.contents(table, keys)
    if keys is None:
        after = tree.build(findings.blobs, table, rows.values())
    else:
        after = tree.patch(findings.blobs, table, before, dict.fromkeys(keys) | rows)
    if differing := tree.differences(findings.blobs, table, before, after):
        findings.differences[table] = differing
        findings.manifest.pop(table, None)
        if after:
            findings.manifest[table] = after


def _release(change: ChangeSet, findings: Findings, locked: CeConfigHead) -> CeRelease:
    findings.blobs.write()
    values = {
        "content_hash": hash_of(canonical(findings.manifest)),
        "manifest": findings.manifest,
        "write_counter": locked.write_counter,
    }
    release = _amend_release(change, locked, values) or _create_release(change, findings, locked, values)
    write_history(release, change, findings.differences)
    advance_sequences(table for table, rows in findings.differences.items() if any(row.before is None for row in rows))
    locked.config_version, locked.content_hash = release.config_version, release.content_hash
    return release


def _create_release(change: ChangeSet, findings: Findings, locked: CeConfigHead, values: dict[str, Any]) -> CeRelease:
    found_by_itself = change.origin in (Origin.OUT_OF_BAND, Origin.MIGRATION)
    release = CeRelease.objects.create(
        config_version=locked.config_version + 1,
        parent_id=locked.config_version or None,
        change_set=change.id,
        origin=change.origin,
        author=change.author_name[:150],
        reason=f"{change.origin.label}: {findings.summary}" if found_by_itself else change.reason,
        created_at=timezone.now(),
        **values,
    )
    transaction.on_commit(_Made(release.config_version, change.id, change.implicit))
    return release


def _amend_release(change: ChangeSet, locked: CeConfigHead, values: dict[str, Any]) -> CeRelease | None:
    for _, call, *_ in connection.run_on_commit:
        if not isinstance(call, _Made) or call.config_version != locked.config_version:
            continue
        if call.change_set == change.id or (call.implicit and change.implicit):
            return _rewrite_newest(locked, values)
    return None


def _rewrite_newest(locked: CeConfigHead, values: dict[str, Any]) -> CeRelease:
    """Change the newest release in spite of the seal of its table, which checks the head."""
    CeConfigHead.objects.filter(pk=1).update(released_counter=AMENDING)
    query: models.QuerySet[CeRelease] = models.QuerySet(CeRelease).filter(pk=locked.config_version)
    query.update(**values)
    # `publish` saves the head; it is locked until then.
    return query.get()


def advance_sequences(tables: Iterable[str]) -> None:
    """Move the id sequences of tables with new rows past the highest id. They never move back."""
    if connection.vendor != "postgresql":
        return
    for table in tables:
        model = control_plane()[table]
        pk = model._meta.pk
        if isinstance(pk, models.BigAutoField):
            highest = model._base_manager.aggregate(highest=models.Max(pk.name))["highest"]
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT setval(name, greatest(%s, pg_sequence_last_value(name::regclass)))"
                    " FROM (SELECT pg_get_serial_sequence(%s, %s) AS name) AS found",
                    [highest, table, pk.column],
                )
