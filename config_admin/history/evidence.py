"""Rows of releases as evidence: a document with the hashes that lead from each row to its release.

The content hash of a release names its index of each table, the index names chunks of rows, and the release's list of
history has the hash of each entry. Readers who trust the hash of the release can check each row and its author.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from config_admin.history.row_in_release import describe_columns
from config_admin.releases import read_rows
from config_admin.releases.blobs import Blobs, canonical, hash_of
from config_admin.releases.compile import compile_chunk
from config_admin.releases.content import up_to_date
from config_admin.releases.models import CeRelease, Origin
from config_admin.releases.release_seal import SEALED, compute_seal, history_columns, history_model
from config_admin.releases.row_history import find_last_versions
from config_admin.validation.stored_columns import key_of, to_key
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.json_value import Json
from convengine.server.interfaces.release_history import (
    ConfigurationFinding,
    ProvenRelease,
    ProvenReleases,
    ProvenRow,
    RowVersion,
)

_RELEASES, _BLOBS = "ce_release", "ce_release_blob"
#: What a document of another form raises.
MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError)


def collect_evidence(
    rows: Mapping[int, Collection[tuple[str, str]]], tables: Mapping[int, Collection[str]]
) -> dict[str, Json]:
    """A JSON document that proves rows (table, key) and whole tables of releases, and who made the rows."""
    versions = {version: find_last_versions(keys, version) for version, keys in rows.items()}
    origins = {made.config_version for by_row in versions.values() for made in by_row.values()}
    releases = _read_releases({*rows, *tables, *origins})
    proof = _Proof(releases)
    listed: dict[str, list[Json]] = {}
    for version in sorted({*rows, *tables} & releases.keys()):
        for table in tables.get(version, ()):
            proof.add_table(version, table)
        listed[str(version)] = []
        for table, pk in sorted(set(rows.get(version, ()))):
            made = versions.get(version, {}).get((table, pk))
            if table in ROW_TYPE_OF and proof.add_row(version, table, pk):
                listed[str(version)].append([table, pk, proof.add_entry(made) if made else None])
    return {
        "releases": {str(version): release for version, release in sorted(releases.items())},
        "rows": listed,
        "blobs": {name: canonical(document).decode() for name, document in sorted(proof.documents.items())},
        "entries": proof.read_entries(),
    }


def _read_releases(versions: Collection[int]) -> dict[int, dict[str, Json]]:
    columns = {column.attname: column for column in CeRelease._meta.concrete_fields}
    wanted = {name: columns[name] for name in (*SEALED, "seal")}
    return {release["config_version"]: release for release in read_rows.read(CeRelease, wanted, versions)}


class _Proof:
    """The blobs and entries of history that lead from rows to releases."""

    def __init__(self, releases: Mapping[int, Mapping[str, Json]]) -> None:
        self.documents: dict[str, Json] = {}
        self._releases = releases
        self._blobs = Blobs()
        self._entries: dict[str, set[int]] = defaultdict(set)

    def add_table(self, version: int, table: str) -> None:
        for _, _, name in self._read_index(version, table):
            self._get(name)

    def add_row(self, version: int, table: str, pk: str) -> bool:
        """False for a row that the release does not have."""
        index, key = self._read_index(version, table), to_key(table, pk)
        before = [name for first, _, name in index if first <= key]
        return bool(before) and _find_row(table, self._get(before[-1]), pk) is not None

    def add_entry(self, made: RowVersion) -> str | None:
        """The name of an entry of history. Returns None for one that no release lists."""
        name = self._releases[made.config_version]["history_hash"] if made.config_version in self._releases else ""
        while name:
            document = self._get(name)
            if any(key == made.history_id for key, _, _ in document["tables"].get(made.table, {}).get("rows", ())):
                self._entries[made.table].add(made.history_id)
                return f"{made.config_version} {made.table} {made.history_id}"
            name = document["earlier"]
        return None

    def read_entries(self) -> dict[str, str]:
        """The canonical text of each entry, which its hash covers."""
        texts = {}
        for table, keys in self._entries.items():
            columns = history_columns(table)
            for row in read_rows.read(history_model(table), columns, keys):
                name = f"{row['config_version']} {table} {row['history_id']}"
                texts[name] = canonical([row[column] for column in columns]).decode()
        return dict(sorted(texts.items()))

    def _read_index(self, version: int, table: str) -> list[Json]:
        root = self._releases[version]["manifest"].get(table)
        return self._get(root) if root else []

    def _get(self, name: str) -> Json:
        self.documents[name] = self._blobs.get(name)
        return self.documents[name]


# --- open -------------------------------------------------------------------------------------------------------


def open_evidence(document: Json) -> ProvenReleases:
    """What such a document says, checked by its hashes alone: the database is not read."""
    opened = _Opened(document)
    releases = {}
    try:
        for text, release in sorted(document["releases"].items(), key=lambda item: int(item[0])):
            releases[int(text)] = opened.open_release(int(text), release)
    except MALFORMED as fault:
        opened.add("RELEASE_CHANGED", _RELEASES, "", f"The releases of the file cannot be read: {fault!r}.")
    return ProvenReleases(releases, opened.findings)


class _Opened:
    def __init__(self, document: Json) -> None:
        self.findings: list[ConfigurationFinding] = []
        self._document = document
        self._documents: dict[str, Json] = {}
        for name, text in document["blobs"].items():
            if hashlib.sha256(text.encode()).hexdigest() == name:
                self._documents[name] = json.loads(text)
            else:
                self.add("BLOB_CHANGED", _BLOBS, name, "Its content does not match its name, which is its hash.")

    def add(self, code: str, table: str, row: object, message: str) -> None:
        self.findings.append(ConfigurationFinding(code, table, str(row), message))

    def open_release(self, version: int, release: Mapping[str, Json]) -> ProvenRelease:
        if release["config_version"] != version or compute_seal(release) != release["seal"]:
            text = "Its author, reason, time, content or history does not match its seal."
            self.add("RELEASE_CHANGED", _RELEASES, version, text)
        if hash_of(canonical(release["manifest"])) != release["content_hash"]:
            self.add("RELEASE_CHANGED", _RELEASES, version, "Its content hash does not match its manifest.")
        before = self._document["releases"].get(str(version - 1))
        if before and before["seal"] != release["previous_seal"]:
            self.add("RELEASE_CHANGED", _RELEASES, version, f"Its seal does not follow from release {version - 1}.")
        rows = [self._open_row(version, release, *entry) for entry in self._document["rows"].get(str(version), ())]
        tables = {
            table: Table(table, [row for body in bodies for row in compile_chunk(table, body).rows])
            for table in release["manifest"]
            if table in ROW_TYPE_OF and (bodies := list(self._list_chunks(release, table)))
        }
        return ProvenRelease(
            version,
            release["author"] or Origin(release["origin"]).label,
            release["created_at"],
            release["reason"],
            release["content_hash"],
            release["seal"],
            Snapshot(version, tables),
            [row for row in rows if row],
        )

    def _list_chunks(self, release: Mapping[str, Json], table: str) -> Iterator[Mapping[str, Json]]:
        index = self._documents.get(release["manifest"].get(table), ())
        return (self._documents[name] for _, _, name in index if name in self._documents)

    def _open_row(
        self, version: int, release: Mapping[str, Json], table: str, pk: str, entry: str | None
    ) -> ProvenRow | None:
        chunks = self._list_chunks(release, table)
        content = next((row for body in chunks if (row := _find_row(table, body, pk)) is not None), None)
        if content is None:
            self.add("BLOB_MISSING", table, pk, f"The file does not prove this row of release {version}.")
            return None
        origin, reason = self._check_entry(version, table, pk, content, entry) if entry else (None, "")
        return ProvenRow(table, pk, describe_columns(table, content), origin, reason)

    def _check_entry(
        self, used: int, table: str, pk: str, content: Mapping[str, Json], entry: str
    ) -> tuple[int | None, str]:
        """The release and the reason of an entry of history, if its release lists it with this text.

        The row is that of the release `used`, so a later release cannot have made it.
        """
        text = self._document["entries"].get(entry)
        version, key = int(entry.split(maxsplit=1)[0]), int(entry.rsplit(maxsplit=1)[-1])
        if version > used:
            self.add("HISTORY_CHANGED", table, pk, f"Release {used} cannot have it from the later release {version}.")
            return None, ""
        for columns, row_pk, digest in self._list_entries(version, table, key):
            if text is None or hash_of(text.encode()) != digest or row_pk != pk:
                break
            values = dict(zip(columns, json.loads(text), strict=True))
            if any(name in values and values[name] != value for name, value in content.items()):
                break
            return version, str(values.get("history_change_reason") or "")
        self.add("HISTORY_CHANGED", table, pk, f"Release {version} does not list this entry of its history.")
        return None, ""

    def _list_entries(self, version: int, table: str, key: int) -> Iterator[tuple[list[str], str, str]]:
        name = self._document["releases"][str(version)]["history_hash"]
        while name and (listed := self._documents.get(name)):
            of_table = listed["tables"].get(table, {"columns": [], "rows": []})
            yield from ((of_table["columns"], row_pk, digest) for at, row_pk, digest in of_table["rows"] if at == key)
            name = listed["earlier"]


def _find_row(table: str, body: Mapping[str, Json], pk: str) -> dict[str, Json] | None:
    """A row of a chunk, with the columns of today."""
    at = body["columns"].index(key_of(table))
    values = next((values for values in body["rows"] if str(values[at]) == pk), None)
    return None if values is None else dict(up_to_date(table, dict(zip(body["columns"], values, strict=True))))
