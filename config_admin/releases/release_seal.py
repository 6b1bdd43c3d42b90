"""The seal of a release: over the seal before it, its content, its row history, and who made it, why and when."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import models

from config_admin.releases import read_rows
from config_admin.releases.blobs import Blobs, canonical, hash_of
from config_admin.releases.content import as_json
from config_admin.releases.models import CeRelease
from config_admin.validation.stored_columns import control_plane, key_of
from convengine.json_value import Json

#: The seal before the first release.
GENESIS = "0" * 64
#: The sealed columns of a release.
SEALED = (
    *("config_version", "parent_id", "change_set", "origin", "author", "reason", "created_at", "write_counter"),
    *("content_hash", "manifest", "history_hash", "previous_seal"),
)
#: The user may be deleted later; the release itself names its author.
_UNSEALED_HISTORY = ("history_user_id",)


def compute_seal(release: Mapping[str, Json]) -> str:
    """The seal of a release, given as JSON values by column."""
    return hash_of(canonical([release[name] for name in SEALED]))


def seal_release(release: CeRelease) -> None:
    before = CeRelease.objects.filter(pk=release.config_version - 1).values_list("seal", flat=True).first()
    release.previous_seal = before or GENESIS
    values = {name: as_json(getattr(release, name)) for name in SEALED}
    release.seal = compute_seal({**values, "origin": str(values["origin"]), "change_set": str(release.change_set)})


def list_history(blobs: Blobs, earlier: str, added: Mapping[str, Sequence[int]]) -> str:
    """Store a list of new history rows of a release with their hashes, after the `earlier` list of the same release.

    Returns the hash of the list.
    """
    tables = {}
    for table, keys in added.items():
        columns = list(history_columns(table))
        hashes = hash_history(table, columns, keys)
        tables[table] = {
            "columns": columns,
            "rows": [[key, row_pk, digest] for key, (row_pk, digest) in sorted(hashes.items())],
        }
    return blobs.add({"earlier": earlier, "tables": tables})


@cache
def history_model(table: str) -> type[models.Model]:
    model: Any = control_plane()[table]
    history: type[models.Model] = model.history.model
    return history


def history_columns(table: str) -> dict[str, "models.Field[Any, Any]"]:
    columns = {column.attname: column for column in history_model(table)._meta.concrete_fields}
    return {name: column for name, column in columns.items() if name not in _UNSEALED_HISTORY}


def hash_history(table: str, columns: Sequence[str], keys: Sequence[int]) -> dict[int, tuple[str, str]]:
    """The row and the hash of some history rows, by history id."""
    existing, row_key = history_columns(table), key_of(table)
    rows = read_rows.read(history_model(table), {name: existing[name] for name in columns}, keys)
    return {row["history_id"]: (str(row[row_key]), hash_of(canonical([row[name] for name in columns]))) for row in rows}
