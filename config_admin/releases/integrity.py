"""Verify the configuration's own past: blobs against their names, the chain of releases, and the row history."""

import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from config_admin.releases import head, read_rows
from config_admin.releases.blobs import batches, canonical, hash_of
from config_admin.releases.models import CeGradualRelease, CeRelease, CeReleaseBlob, GradualStatus
from config_admin.releases.release_seal import (
    GENESIS,
    SEALED,
    compute_seal,
    hash_history,
    history_columns,
    history_model,
)
from config_admin.validation.stored_columns import control_plane
from convengine.json_value import Json
from convengine.server.interfaces.release_history import ConfigurationFinding, ConfigurationReport

#: A release as JSON values by column.
Release = Mapping[str, Json]
_RELEASES, _BLOBS, _HEAD = "ce_release", "ce_release_blob", "ce_config_head"


@dataclass
class _Check:
    findings: list[ConfigurationFinding] = field(default_factory=list)
    #: Whole documents that others refer to, by hash.
    documents: dict[str, Json] = field(default_factory=dict)
    #: Blobs that were read.
    stored: set[str] = field(default_factory=set)
    #: What each blob is for.
    uses: dict[str, str] = field(default_factory=dict)

    def add(self, code: str, table: str, row: object, message: str) -> None:
        self.findings.append(ConfigurationFinding(code, table, str(row), message))


def verify_configuration(versions: Collection[int] | None = None) -> ConfigurationReport:
    """Verify all releases with their blobs and histories, and the head.

    With `versions` only these releases, without the head and without blobs that they do not use.
    """
    check = _Check()
    columns = {column.attname: column for column in CeRelease._meta.concrete_fields}
    rows = read_rows.read(CeRelease, {name: columns[name] for name in (*SEALED, "seal")})
    releases: list[Release] = sorted(rows, key=lambda row: row["config_version"])
    used = [release for release in releases if versions is None or release["config_version"] in versions]
    _check_chain(check, releases, versions)
    _check_blobs(check, used, everything=versions is None)
    history = _check_history(check, used, everything=versions is None)
    return ConfigurationReport(len(used), len(check.stored), history, check.findings)


def read_chain_end() -> tuple[int, str]:
    """The number and the seal of the newest release; 0 and blank before the first."""
    newest = CeRelease.objects.order_by("-config_version").values_list("config_version", "seal").first()
    return newest or (0, "")


def read_seal(config_version: int) -> str:
    """The seal of a release; blank when it does not exist."""
    seal = CeRelease.objects.filter(pk=config_version).values_list("seal", flat=True).first()
    return seal or ""


# --- releases ---------------------------------------------------------------------------------------------------


def _check_chain(check: _Check, releases: list[Release], versions: Collection[int] | None) -> None:
    """Report releases that were removed, or that do not follow from the seal of the one before.

    With `versions` only those are checked, and not the head.
    """
    previous, version = GENESIS, 0
    for release in releases:
        number = release["config_version"]
        if versions is None or number in versions:
            if number != version + 1:
                check.add("RELEASE_MISSING", _RELEASES, version + 1, f"Release {version + 1} was removed.")
            elif release["previous_seal"] != previous:
                text = f"Its seal does not follow from release {version}: one of the two was changed."
                check.add("RELEASE_CHANGED", _RELEASES, number, text)
            _check_release(check, release)
        previous, version = release["seal"], number
    if versions is None:
        _check_head(check, releases)


def _check_head(check: _Check, releases: list[Release]) -> None:
    """Report a head that does not name the newest release and its audience. A missing head is no finding."""
    stored = head.read()
    if stored is None:
        return
    in_force, newest = head.Head.parse(stored), releases[-1] if releases else None
    version = newest["config_version"] if newest else 0
    if in_force.config_version > version:
        text = f"Release {in_force.config_version} is in force, but it was removed."
        check.add("RELEASE_MISSING", _RELEASES, in_force.config_version, text)
    elif newest and (in_force.config_version, in_force.content_hash) != (version, newest["content_hash"]):
        text = f"It says that release {in_force.config_version} is in force; the newest release is {version}."
        check.add("HEAD_CHANGED", _HEAD, 1, text)
    running = CeGradualRelease.objects.filter(status=GradualStatus.RUNNING).values_list("key", flat=True).first()
    if in_force.audience != (running or ""):
        check.add("HEAD_CHANGED", _HEAD, 1, "It does not name the audience of the gradual release that runs.")


def _check_release(check: _Check, release: Release) -> None:
    """Report a release that does not match its seal, or its content hash."""
    number = release["config_version"]
    if not release["seal"]:
        check.add("RELEASE_CHANGED", _RELEASES, number, "It has no seal.")
    elif compute_seal(release) != release["seal"]:
        text = "Its author, reason, time, content or history does not match its seal."
        check.add("RELEASE_CHANGED", _RELEASES, number, text)
    if hash_of(canonical(release["manifest"])) != release["content_hash"]:
        check.add("RELEASE_CHANGED", _RELEASES, number, "Its content hash does not match its manifest.")


# --- blobs ------------------------------------------------------------------------------------------------------


def _check_blobs(check: _Check, releases: Iterable[Release], *, everything: bool) -> None:
    """Read each blob once: those that releases name, those that these name, and any others."""
    wanted: dict[str, str] = {}
    for release in releases:
        manifest = release["manifest"] if isinstance(release["manifest"], dict) else {}
        for table, root in (*manifest.items(), ("the row history", release["history_hash"])):
            if root:
                wanted.setdefault(str(root), f"rows of {table} since release {release['config_version']}")
    while wanted:
        check.uses |= wanted
        following: dict[str, str] = {}
        for name, document in _read_blobs(check, wanted):
            for other in _list_references(document):
                if other not in check.uses:
                    following[other] = check.uses[name]
        for name in wanted:
            if name not in check.stored:
                check.add("BLOB_MISSING", _BLOBS, name, f"It was removed: {check.uses[name]}.")
        wanted = following
    if everything:
        others = CeReleaseBlob.objects.values_list("pk", flat=True)
        for _ in _read_blobs(check, [name for name in others if name not in check.stored]):
            pass


def _read_blobs(check: _Check, names: Iterable[str]) -> Iterator[tuple[str, Json]]:
    """Read blobs, note them in `check`, and report those that do not match their names.

    Gives those that refer to other blobs, or list history.
    """
    for batch in batches(names):
        for name, data in CeReleaseBlob.objects.filter(pk__in=batch).values_list("pk", "data"):
            check.stored.add(name)
            text = _decompress(data)
            if text is None or hash_of(text) != name:
                what = f": {check.uses[name]}" if name in check.uses else ""
                check.add("BLOB_CHANGED", _BLOBS, name, f"Its content was changed{what}.")
            elif text.startswith((b"[", b'{"earlier"')):
                check.documents[name] = json.loads(text)
                yield name, check.documents[name]


def _decompress(data: Any) -> bytes | None:
    try:
        return zlib.decompress(bytes(data))
    except (TypeError, zlib.error):
        return None


def _list_references(document: Json) -> Iterator[str]:
    if isinstance(document, list):
        yield from (entry[2] for entry in document)
    elif document["earlier"]:
        yield document["earlier"]


# --- row history ------------------------------------------------------------------------------------------------


def _check_history(check: _Check, releases: Iterable[Release], *, everything: bool) -> int:
    """Compare each row of history with the list of its release; returns how many rows are listed.

    `everything`: also report rows that no list has.
    """
    #: By table and columns: history id -> release, row, hash.
    expected: dict[tuple[str, tuple[str, ...]], dict[int, tuple[int, str, str]]] = defaultdict(dict)
    is_whole = True
    for release in releases:
        name = release["history_hash"]
        while name:
            document = check.documents.get(name)
            if document is None:
                is_whole = False
                break
            for table, entries in document["tables"].items():
                by_id = expected[table, tuple(entries["columns"])]
                by_id.update((key, (release["config_version"], pk, digest)) for key, pk, digest in entries["rows"])
            name = document["earlier"]
    count = 0
    listed: dict[str, set[int]] = defaultdict(set)
    for (table, columns), rows in expected.items():
        count += len(rows)
        listed[table] |= rows.keys()
        _compare_history(check, table, columns, rows)
    for table in control_plane() if everything and is_whole else ():
        history = history_model(table)
        for key in history._default_manager.values_list("pk", flat=True).order_by("pk"):
            if key not in listed.get(table, ()):
                check.add("HISTORY_ADDED", history._meta.db_table, key, "No release lists this entry.")
    return count


def _compare_history(
    check: _Check, table: str, columns: tuple[str, ...], rows: Mapping[int, tuple[int, str, str]]
) -> None:
    """Report entries of history that were removed or do not match their hashes.

    `rows`: by history id, the release, the row and the hash. Columns that no longer exist cannot be compared.
    """
    if table not in control_plane() or not set(columns) <= history_columns(table).keys():
        # A later version of the product changed the table: its columns of then cannot be read.
        return
    name = history_model(table)._meta.db_table
    hashes = hash_history(table, columns, list(rows))
    for key, (version, pk, digest) in rows.items():
        if key not in hashes:
            text = f"The entry of release {version} about row {pk} of {table} was removed."
            check.add("HISTORY_MISSING", name, key, text)
        elif hashes[key][1] != digest:
            text = f"The entry of release {version} about row {pk} of {table} was changed."
            check.add("HISTORY_CHANGED", name, key, text)
