"""The working copy of a draft: while it is open, change sets go to it and make no release.

A draft is edited in the tables themselves, inside a transaction that is rolled back in the end. So every page, form,
list and import works in a draft as it does outside of it, and nobody else ever sees the rows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from config_admin.releases.blobs import Blobs, canonical, hash_of
from config_admin.releases.changes import ChangeSet
from config_admin.releases.make_release import compare
from config_admin.releases.tree import Content, RowDifference, differences

_open: ContextVar["WorkingCopy | None"] = ContextVar("working_copy", default=None)


@dataclass
class WorkingCopy:
    """The configuration of a draft, and what change sets changed in it."""

    #: The title of the draft.
    title: str
    #: The release below the draft.
    config_version: int
    #: For each table that has rows, the root of its tree in `blobs`.
    manifest: dict[str, str]
    #: The manifest of the release below the draft.
    live: dict[str, str]
    blobs: Blobs = field(default_factory=Blobs)
    #: The changed rows as they are now, by table and primary key. None for a deleted one.
    changed: dict[str, dict[Any, Content | None]] = field(default_factory=dict)
    #: The draft. None for a release that is read like a draft.
    draft_id: int | None = None
    #: Writes to other tables, made when the rows of the draft are out of the tables again.
    later: list[Callable[[], object]] = field(default_factory=list)

    @property
    def content_hash(self) -> str:
        return hash_of(canonical(self.manifest))

    def record(self, change: ChangeSet) -> None:
        findings = compare(change, self.manifest, self.blobs)
        self.manifest = findings.manifest
        for table, rows in findings.differences.items():
            self.changed.setdefault(table, {}).update({row.pk: row.after for row in rows})

    @contextmanager
    def restored_on_failure(self) -> Iterator[None]:
        """Around a change set: forget what it recorded when it is rolled back."""
        manifest, changed = self.manifest, {table: dict(rows) for table, rows in self.changed.items()}
        try:
            yield
        except BaseException:
            self.manifest, self.changed = manifest, changed
            raise

    def list_edits(self) -> dict[str, list[RowDifference]]:
        """The changed rows, each with its content in the release below and as it is now."""
        edits = {}
        for table, rows in self.changed.items():
            roots = self.live.get(table), self.manifest.get(table)
            differing = {row.pk: row for row in differences(self.blobs, table, *roots)}
            edits[table] = [differing.get(pk) or RowDifference(pk, after, after) for pk, after in rows.items()]
        return edits


def find_working_copy() -> WorkingCopy | None:
    """The working copy that this request edits, if any."""
    return _open.get()


def write_outside(write: Callable[[], object]) -> None:
    """Make a write that belongs to no draft: now, or when the open draft has left the tables."""
    if copy := find_working_copy():
        copy.later.append(write)
    else:
        write()


@contextmanager
def use_working_copy(copy: WorkingCopy) -> Iterator[None]:
    """Send the change sets inside to this working copy."""
    token = _open.set(copy)
    try:
        yield
    finally:
        _open.reset(token)
