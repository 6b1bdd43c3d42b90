"""Who made the version of a row that a release has, when, why, and what the row says today."""

from collections.abc import Collection, Mapping

from config_admin.editing.links import release_url
from config_admin.editing.row_diff import changes
from config_admin.releases.row_versions import RowKey, RowVersion, find_last_versions, read_versions
from config_admin.releases.tree import Content
from convengine.server.interfaces.release_history import RowOrigin


def find_row_origins(rows: Collection[RowKey], config_version: int) -> dict[RowKey, RowOrigin]:
    """The origin of rows (table, key) as a release has them; rows without a history are left out.

    Two queries, and one for each table in which a row changed since.
    """
    made, last = find_last_versions(rows, config_version), find_last_versions(rows)
    since = {row: last[row] for row in made if last[row] != made[row] and not last[row].is_deleted}
    contents = read_versions([*since.values(), *(made[row] for row in since)])
    return {row: _build_origin(version, last[row], contents) for row, version in made.items()}


def _build_origin(made: RowVersion, last: RowVersion, contents: Mapping[RowVersion, Content]) -> RowOrigin:
    return RowOrigin(
        author=made.made_by,
        at=made.at,
        reason=made.reason,
        release=made.config_version,
        url=release_url(made.config_version),
        is_deleted=last.is_deleted and last != made,
        changes=changes(made.table, contents[made], contents[last]) if last in contents else [],
    )
