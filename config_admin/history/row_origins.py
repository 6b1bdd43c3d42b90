"""Who made the version of a row that a release has, when, why, and what the row says today."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import CharField, F, Model, Value
from django.db.models.functions import Cast

from config_admin.comparison.row_diff import changes
from config_admin.editing.links import release_url
from config_admin.releases.content import as_json, control_plane, kept_columns, key_of
from config_admin.releases.models import CeRelease
from config_admin.releases.release_seal import history_model
from convengine.server.interfaces.release_history import RowOrigin

_DELETED = "-"
Json = Any


class RowVersion(NamedTuple):
    """One entry of a row's history."""

    table: str
    pk: str
    history_id: int
    config_version: int
    sign: str
    reason: str


def find_row_origins(rows: Collection[tuple[str, str]], config_version: int) -> dict[tuple[str, str], RowOrigin]:
    """The origin of rows (table, key) as a release has them; rows without a history are left out.

    Two queries, and one for each table in which a row changed since.
    """
    by_row = _group_versions(rows)
    made = _select_newest(by_row, config_version)
    last = {row: max(by_row[row], key=lambda version: version.history_id) for row in made}
    contents = _read_contents(
        version for row in made if last[row] is not made[row] for version in (made[row], last[row])
    )
    releases = CeRelease.objects.defer("manifest").in_bulk(
        {version.config_version for version in (*made.values(), *last.values())}
    )
    return {row: _build_origin(made[row], last[row], contents, releases) for row in made}


def find_versions(rows: Collection[tuple[str, str]], config_version: int) -> dict[tuple[str, str], RowVersion]:
    """The entries of history that made rows (table, key) what a release has."""
    return _select_newest(_group_versions(rows), config_version)


def _group_versions(rows: Iterable[tuple[str, str]]) -> dict[tuple[str, str], list[RowVersion]]:
    by_row: dict[tuple[str, str], list[RowVersion]] = defaultdict(list)
    for version in _read_versions(rows):
        by_row[version.table, version.pk].append(version)
    return by_row


def _select_newest(
    by_row: Mapping[tuple[str, str], Iterable[RowVersion]], config_version: int
) -> dict[tuple[str, str], RowVersion]:
    return {
        row: max(older, key=lambda version: version.history_id)
        for row, versions in by_row.items()
        if (older := [version for version in versions if version.config_version <= config_version])
    }


def _read_versions(rows: Iterable[tuple[str, str]]) -> list[RowVersion]:
    keys: dict[str, list[str]] = defaultdict(list)
    for table, pk in rows:
        if table in control_plane() and (key := _read_key(table, pk)) is not None:
            keys[table].append(key)
    queries = [
        history_model(table)
        ._default_manager.order_by()
        .filter(**{f"{key_of(table)}__in": wanted})
        .values_list(
            Value(table, CharField()),
            Cast(F(key_of(table)), CharField()),
            "history_id",
            "config_version",
            "history_type",
            "history_change_reason",
        )
        for table, wanted in keys.items()
    ]
    if not queries:
        return []
    return [RowVersion(*values) for values in queries[0].union(*queries[1:], all=True)]


def _read_key(table: str, pk: str) -> Any:
    column: Any = control_plane()[table]._meta.pk
    try:
        return column.to_python(pk)
    except ValidationError:
        return None


def _read_contents(versions: Iterable[RowVersion]) -> dict[tuple[str, int], dict[str, Json]]:
    by_table: dict[str, list[int]] = defaultdict(list)
    for version in versions:
        by_table[version.table].append(version.history_id)
    return {
        (table, record.history_id): _content(table, record)
        for table, ids in by_table.items()
        for record in _list_records(table, ids)
    }


def _list_records(table: str, ids: list[int]) -> Iterable[Any]:
    model: type[Model] = history_model(table)
    return model._default_manager.filter(history_id__in=ids)


def _content(table: str, record: Any) -> dict[str, Json]:
    return {name: as_json(getattr(record, name)) for name in kept_columns(table)}


def _build_origin(
    made: RowVersion,
    last: RowVersion,
    contents: Mapping[tuple[str, int], dict[str, Json]],
    releases: Mapping[int, CeRelease],
) -> RowOrigin:
    release = releases.get(made.config_version)
    is_deleted = last is not made and last.sign == _DELETED
    differences = (
        changes(made.table, contents[made.table, made.history_id], contents[last.table, last.history_id])
        if last is not made and not is_deleted
        else []
    )
    return RowOrigin(
        author=(release.author or release.get_origin_display()) if release else "",
        at=release.created_at if release else None,
        reason=made.reason or "",
        release=made.config_version,
        url=release_url(made.config_version),
        is_deleted=is_deleted,
        changes=differences,
    )
