"""Queries about releases, for admin pages, timelines and commands."""

from typing import Any

from config_admin.releases import tree
from config_admin.releases.blobs import Blobs
from config_admin.releases.head import EMPTY_HASH
from config_admin.releases.models import CeRelease
from config_admin.releases.tree import Content
from config_admin.validation.stored_columns import to_key


class NoSuchRelease(LookupError):
    """There is no release of this number."""

    def __init__(self, config_version: int) -> None:
        super().__init__(f"Release {config_version} does not exist.")


def release_of(config_version: int) -> CeRelease:
    """A release. Raises NoSuchRelease."""
    try:
        return CeRelease.objects.get(pk=config_version)
    except CeRelease.DoesNotExist:
        raise NoSuchRelease(config_version) from None


def manifest_of(config_version: int) -> dict[str, str]:
    """For each table with rows in a release, the root of its tree. Version 0 is the empty configuration.

    Raises NoSuchRelease.
    """
    return dict(release_of(config_version).manifest) if config_version else {}


def content_hash_of(config_version: int) -> str:
    """The hash of a release's whole content. Raises NoSuchRelease."""
    if not config_version:
        return EMPTY_HASH
    for content_hash in CeRelease.objects.filter(pk=config_version).values_list("content_hash", flat=True):
        return str(content_hash)
    raise NoSuchRelease(config_version)


def row_at(config_version: int, table: str, pk: Any) -> Content | None:
    """One row as it was in a release. Returns None if there is none.

    Raises NoSuchRelease, and KeyError for an unknown table.
    """
    return tree.row_of(Blobs(), table, manifest_of(config_version).get(table), to_key(table, pk))
