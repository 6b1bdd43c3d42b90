"""The content-addressed store: JSON documents under the hash of their canonical text."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from config_admin.releases.models import CeReleaseBlob
from convengine.json_value import Json

T = TypeVar("T")
CODEC = "json+zlib"
#: Names in one IN list; SQLite accepts only some thousand.
BATCH = 500


def canonical(value: Json) -> bytes:
    """The canonical text of a document: sorted keys, no blanks, ASCII.

    The standard library's writer handles whole numbers of any size and every text of a JSON column.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def hash_of(text: bytes) -> str:
    """The name of a document."""
    return hashlib.sha256(text).hexdigest()


def batches(keys: Iterable[T]) -> Iterator[list[T]]:
    """Primary keys in lists that fit into one statement."""
    wanted = iter(keys)
    while batch := list(islice(wanted, BATCH)):
        yield batch


class Blobs:
    """A cache of the store for one piece of work: what was read, and what will be written."""

    def __init__(self) -> None:
        self._known: dict[str, Json] = {}
        self._fresh: dict[str, bytes] = {}

    def add(self, document: Json) -> str:
        """Add a document for `write`; returns its hash."""
        text = canonical(document)
        name = hash_of(text)
        self._known[name] = document
        self._fresh[name] = text
        return name

    def fetch(self, names: Iterable[str]) -> None:
        """Read documents that will be needed, in as few queries as possible."""
        for batch in batches(name for name in dict.fromkeys(names) if name not in self._known):
            for blob in CeReleaseBlob.objects.filter(pk__in=batch):
                self._known[blob.hash] = json.loads(zlib.decompress(bytes(blob.data)))

    def get(self, name: str) -> Json:
        """A document. Raises KeyError if it is missing."""
        if name not in self._known:
            self.fetch([name])
        return self._known[name]

    def write(self) -> None:
        """Store added documents that are missing."""
        stored: set[str] = set()
        for batch in batches(self._fresh):
            stored.update(CeReleaseBlob.objects.filter(pk__in=batch).values_list("pk", flat=True))
        CeReleaseBlob.objects.bulk_create(
            [
                CeReleaseBlob(hash=name, codec=CODEC, data=zlib.compress(text, 9))
                for name, text in self._fresh.items()
                if name not in stored
            ],
            batch_size=BATCH,
            ignore_conflicts=True,
        )
        self._fresh.clear()
