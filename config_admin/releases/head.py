"""The row that says which release is in force: read in a turn's own statement, locked by every change."""

from typing import NamedTuple

from django.db import connection

from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.models import CeConfigHead, CeRelease

#: The content hash without any rows.
EMPTY_HASH = hash_of(canonical({}))

#: A scalar subquery for any statement of either database; None while the row is missing.
HEAD_SQL = (
    "(SELECT CAST(config_version AS TEXT) || ':' || CAST(write_counter AS TEXT) || ':' ||"
    " CAST(released_counter AS TEXT) || ':' || content_hash || ':' || audience FROM ce_config_head WHERE id = 1)"
)


class Head(NamedTuple):
    """The parsed result of HEAD_SQL."""

    config_version: int
    write_counter: int
    released_counter: int
    content_hash: str
    #: The key of the audience of a gradual release; blank when all conversations have the release.
    audience: str = ""

    @classmethod
    def parse(cls, text: str) -> "Head":
        """Read `version:written:released:hash:audience`. Raises ValueError."""
        version, written, released, content_hash, audience = text.split(":")
        return cls(int(version), int(written), int(released), content_hash, audience)

    @property
    def settled(self) -> bool:
        """True when the tables hold what the release says."""
        return self.write_counter == self.released_counter


def read() -> str | None:
    """The head's text, in one query."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {HEAD_SQL}")
        row = cursor.fetchone()
    return row[0] if row else None


def newest() -> int:
    """The version in force; 0 before the first release."""
    text = read()
    return Head.parse(text).config_version if text else 0


def read_write_counter() -> int:
    """The write counter of the tables, as this transaction sees it."""
    return CeConfigHead.objects.values_list("write_counter", flat=True).get(pk=1)


def lock_head() -> CeConfigHead:
    """The head, locked until the transaction ends; created when it is missing, as in an emptied database.

    On SQLite a transaction that may write holds the only write lock already.
    """
    query = CeConfigHead.objects.select_for_update().filter(pk=1)
    head = query.first()
    if head is None:
        created = CeConfigHead(content_hash=EMPTY_HASH)
        if last := CeRelease.objects.order_by("-config_version").first():
            created = CeConfigHead(config_version=last.config_version, content_hash=last.content_hash)
            # The counters differ, so that every row is compared next time.
            created.write_counter, created.released_counter = last.write_counter + 1, last.write_counter
        CeConfigHead.objects.bulk_create([created], ignore_conflicts=True)
        head = query.get()
    return head
