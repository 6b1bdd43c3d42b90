"""Revisions: what one release changed, one entry per row; a view of releases, not a table (tables 8, R5)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from config_admin.releases.diff import differences
from config_admin.releases.models import Origin
from config_admin.releases.queries import release_of
from config_admin.releases.tree import Content

_OPERATIONS = {(False, True): "INSERT", (True, True): "UPDATE", (True, False): "DELETE"}


@dataclass(frozen=True)
class Revision:
    """The change of one row by one change set."""

    config_version: int
    change_set: UUID
    table_name: str
    row_pk: Any
    #: INSERT, UPDATE, DELETE, or REVERT when older content was restored.
    operation: str
    before_json: Content | None
    after_json: Content | None
    changed_by: str
    changed_at: datetime
    comment: str


def revisions(config_version: int) -> list[Revision]:
    """The changes of a release against the one before. Raises NoSuchRelease."""
    release = release_of(config_version)
    reverting = release.origin in (Origin.REVERT, Origin.ROLLBACK)
    return [
        Revision(
            config_version=config_version,
            change_set=release.change_set,
            table_name=table,
            row_pk=row.pk,
            operation="REVERT" if reverting else _OPERATIONS[row.before is not None, row.after is not None],
            before_json=row.before,
            after_json=row.after,
            changed_by=release.author,
            changed_at=release.created_at,
            comment=release.reason,
        )
        for table, rows in differences(release.parent_id or 0, config_version).items()
        for row in rows
    ]
