"""Make a release: compare rows that may have changed with the newest release, and store the differences.

The same function serves forms, scripts, upgrades and SQL. It works inside the transaction of the change, with the head
locked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.auth.base_user import AbstractBaseUser
from django.db import connection, models, transaction
from django.utils import timezone
from simple_history.models import HistoricalRecords

from config_admin.releases import content, head, read_rows, tree
from config_admin.releases.blobs import Blobs, canonical, hash_of
from config_admin.releases.changes import ChangeSet
from config_admin.releases.models import AMENDING, CeConfigHead, CeRelease, CeReleaseMove, Origin
from config_admin.releases.queries import manifest_of
from config_admin.releases.release_seal import history_model, list_history, seal_release
from config_admin.releases.tree import RowDifference
from config_admin.validation.stored_columns import control_plane, kept_columns, key_of
from convengine.engine.errors import DraftRequired, GradualReleaseRunning
from convengine.engine.turn.fault import find_unreadable_columns
from convengine.engine.turn.scope import ANY
from convengine.server.deployment import conf
from convengine.server.phrase_models.live import live_classifier
from convengine.server.webhooks.write import store_release_event

#: What people do through pages, files and the API. A script or SQL gets past it, and its release says so.
_REVIEWED = frozenset({Origin.ADMIN, Origin.API, Origin.IMPORT, Origin.REVERT, Origin.ROLLBACK})
#: What was written already when it is found.
_FOUND = frozenset({Origin.OUT_OF_BAND, Origin.MIGRATION})
#: The columns that a later write of the same transaction changes.
_AMENDED = ("content_hash", "manifest", "write_counter", "history_hash", "previous_seal", "seal")


@dataclass
class Findings:
    """The result of a comparison: the trees of the tables now, and the changed rows."""

    blobs: Blobs
    manifest: dict[str, str]
    differences: dict[str, list[tree.RowDifference]] = field(default_factory=dict)

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
        """Make the classifier of the release, if its phrases are others."""
        live_classifier.refresh()


def publish(change: ChangeSet) -> None:
    """Release the changes of a change set, if any; `change.release` names it. Call it in a transaction.

    A second call for the same change set, or for the next write of a transaction without one, amends the release of
    this transaction, which nobody else has seen yet.

    Raises DraftRequired if such changes need a review, and GradualReleaseRunning while a gradual release runs.
    """
    locked = head.lock_head()
    change.account(locked.write_counter)
    findings = compare(change, manifest_of(locked.config_version), Blobs())
    if findings.differences and not change.is_stop:
        if locked.audience and change.origin not in _FOUND:
            raise GradualReleaseRunning
        if _is_reviewed(change) and _requires_draft(locked.config_version):
            raise DraftRequired
    if findings.differences:
        change.release = _store_release(change, findings, locked)
        # Conversations of renamed intents go on under the new codes, each with its next message that gets the release.
        CeReleaseMove.objects.bulk_create(
            CeReleaseMove(
                config_version=change.release.pk, from_intent=old, from_state=ANY, to_intent=new, to_state=ANY
            )
            for old, new in change.renamed_intents.items()
        )
        change.renamed_intents = {}
    if findings.differences or not locked.settled:
        locked.released_counter = locked.write_counter
        locked.save()


def _is_reviewed(change: ChangeSet) -> bool:
    """True also for a page that writes without a change set of its own."""
    is_in_request = getattr(HistoricalRecords.context, "request", None) is not None
    return change.origin in _REVIEWED or (change.origin == Origin.SHELL and is_in_request)


def _requires_draft(config_version: int) -> bool:
    # The app reads the setting from the snapshot of the release, which is made above this package.
    app: Any = apps.get_app_config("config_admin")
    return bool(config_version and app.requires_draft(config_version))


def settle(origin: Origin, *, everything: bool = False) -> CeConfigHead:
    """Release writes outside of the application since the last release, if any.

    Two processes that find the same writes wait for each other here; the second finds them released. `everything`
    compares all rows even if no write was counted.
    """
    with transaction.atomic():
        locked = head.lock_head()
        if not locked.settled or everything:
            publish(ChangeSet(origin, everything=True))
            locked = head.lock_head()
        return locked


def compare(change: ChangeSet, manifest: dict[str, str], blobs: Blobs) -> Findings:
    """Compare the rows that a change set may have changed with a configuration."""
    findings = Findings(blobs, dict(manifest))
    for table in control_plane():
        if not change.everything and table not in change.tables:
            continue
        before, whole = manifest.get(table), change.everything or table in change.touched_tables
        if whole:
            after = tree.build(blobs, table, content.contents(table).values())
        else:
            keys = list(change.touched[table])
            after = tree.patch(blobs, table, before, dict.fromkeys(keys) | content.contents(table, keys))
        if differing := tree.differences(blobs, table, before, after):
            findings.differences[table] = differing
            findings.manifest.pop(table, None)
            if after:
                findings.manifest[table] = after
    return findings


def _store_release(change: ChangeSet, findings: Findings, locked: CeConfigHead) -> CeRelease:
    """Make a release of the findings, or amend the one of this transaction.

    It queues the webhook deliveries of a new one, and sets the release of `locked`, which the caller saves.
    """
    release = _find_amendable(change, locked) or _build_release(change, findings, locked)
    release.content_hash = hash_of(canonical(findings.manifest))
    release.manifest = findings.manifest
    release.write_counter = locked.write_counter
    added = _write_history(release, change, findings.differences)
    release.history_hash = list_history(findings.blobs, release.history_hash, added)
    seal_release(release)
    findings.blobs.write()
    if release._state.adding:
        release.save()
        transaction.on_commit(_Made(release.config_version, change.id, change.implicit))
        if release.origin != Origin.MIGRATION:
            # While migrations run, the table of webhooks may not be there.
            store_release_event(release.pk, release.origin, release.author, release.reason, release.created_at)
    else:
        # The seal of its table checks the head, which is locked until `publish` saves it.
        CeConfigHead.objects.filter(pk=1).update(released_counter=AMENDING)
        query: models.QuerySet[CeRelease] = models.QuerySet(CeRelease).filter(pk=release.config_version)
        query.update(**{name: getattr(release, name) for name in _AMENDED})
    advance_sequences(table for table, rows in findings.differences.items() if any(row.before is None for row in rows))
    locked.config_version, locked.content_hash = release.config_version, release.content_hash
    return release


def _build_release(change: ChangeSet, findings: Findings, locked: CeConfigHead) -> CeRelease:
    """A new release, unsaved and without its content."""
    found_by_itself = change.origin in _FOUND
    return CeRelease(
        config_version=locked.config_version + 1,
        parent_id=locked.config_version or None,
        change_set=change.id,
        origin=change.origin,
        author=change.author_name[:150],
        reason=f"{change.origin.label}: {findings.summary}" if found_by_itself else change.reason,
        # The demonstration makes releases in the past.
        created_at=datetime.now(UTC) + timedelta(seconds=conf.get("CLOCK_OFFSET_SECONDS")),
    )


def _find_amendable(change: ChangeSet, locked: CeConfigHead) -> CeRelease | None:
    """The newest release, if this transaction made it for the same change set, or both were made for single writes.

    Returns None if a new release is needed.
    """
    for _, call, *_ in connection.run_on_commit:
        if not isinstance(call, _Made) or call.config_version != locked.config_version:
            continue
        if call.change_set == change.id or (call.implicit and change.implicit):
            newest: CeRelease = CeRelease.objects.get(pk=locked.config_version)
            return newest
    return None


def advance_sequences(tables: Iterable[str]) -> None:
    """Move the id sequences of tables with new rows past the highest id. SQLite has counted these rows itself."""
    if connection.vendor == "postgresql":
        for table in tables:
            highest = control_plane()[table]._base_manager.aggregate(highest=models.Max("pk"))["highest"]
            reserve_ids(table, highest)


def reserve_ids(table: str, highest: Any) -> None:
    """Let no new row of a table get this id or a lower one. The sequence never moves back.

    Does nothing for a table whose keys the database does not number.
    """
    pk = control_plane()[table]._meta.pk
    if not isinstance(pk, models.AutoField):
        return
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT setval(name, greatest(%s, pg_sequence_last_value(name::regclass)))"
                " FROM (SELECT pg_get_serial_sequence(%s, %s) AS name) AS found",
                [highest, table, pk.column],
            )
            return
        cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [highest, table])
        if not cursor.rowcount:
            cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, highest])


#: Existed before, exists now -> the library's sign.
_SIGNS = {(False, True): "+", (True, True): "~", (True, False): "-"}
BATCH = 500


def _write_history(
    release: CeRelease, change: ChangeSet, differences: Mapping[str, Sequence[RowDifference]]
) -> dict[str, list[int]]:
    """Store who changed what and why, with the release. A deleted row's entry holds its last content.

    Returns the ids of the new rows by table.
    """
    reason = change.reason or release.reason or release.get_origin_display()
    stamp = {
        "config_version": release.config_version,
        "change_set": release.change_set,
        "history_date": timezone.now(),
    }
    author = change.author.pk if isinstance(change.author, AbstractBaseUser) else None
    added: dict[str, list[int]] = {}
    for table, rows in differences.items():
        history = history_model(table)
        entries = (
            history(
                **stamp,
                history_user_id=change.editors.get((table, row.pk), author),
                history_change_reason=reason + _note_unreadable(row),
                **values,
            )
            for row, values in _build_entries(table, rows, change)
        )
        added[table] = [entry.pk for entry in history._default_manager.bulk_create(entries, batch_size=BATCH)]
    return added


def _build_entries(
    table: str, rows: Sequence[RowDifference], change: ChangeSet
) -> Iterator[tuple[RowDifference, dict[str, Any]]]:
    """The columns of the history rows, each with its difference. A deleted row has its last content."""
    model, stored, key = control_plane()[table], kept_columns(table), key_of(table)
    unstored = {
        column.attname: column
        for column in model._meta.concrete_fields
        if column.attname not in stored or column.primary_key
    }
    existing = [row.pk for row in rows if row.after is not None]
    stamps = {row[key]: row for row in read_rows.read(model, unstored, existing)}
    for row in rows:
        shown = row.after if row.after is not None else row.before
        assert shown is not None
        others = {"updated_by": change.author_name} if row.after is None else stamps.get(row.pk, {})
        values = _build_values(table, {**shown, **others}, row.before or {})
        yield row, values | {"history_type": _SIGNS[row.before is not None, row.after is not None]}


def _build_values(table: str, row: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A row for the history table: an invalid value is replaced by the one before it."""
    bad = find_unreadable_columns(row)
    model = control_plane()[table]
    given = {name: value for name, value in row.items() if name not in bad}
    given |= {name: before[name] for name in bad.keys() - find_unreadable_columns(before).keys() if name in before}
    instance = model(**content.as_columns(model._meta.concrete_fields, given))
    values = {column.attname: getattr(instance, column.attname) for column in model._meta.concrete_fields}
    empty = {name: _make_empty_value(model._meta.get_field(name)) for name in bad if values.get(name) is None}
    return values | empty


def _make_empty_value(column: Any) -> Any:
    """A value for a column that has none to show: None, now, an empty object or zero."""
    if column.null:
        return None
    return (
        timezone.now()
        if isinstance(column, models.DateTimeField)
        else {}
        if isinstance(column, models.JSONField)
        else 0
    )


def _note_unreadable(row: RowDifference) -> str:
    """A note about invalid values, added to the reason."""
    invalid = find_unreadable_columns(row.after or {})
    problems = "; ".join(f"{name}: the value {value[:100]!r} is not valid" for name, value in invalid.items())
    return f" ({problems})" if problems else ""
