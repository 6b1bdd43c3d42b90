"""The genuine entries of the ledger, and what they say."""

from dataclasses import dataclass

from audit.models import CeLedger
from convengine.server.database.unreadable import read_rows
from convengine.server.sessions.models import CeConversation


@dataclass
class Ledger:
    """The genuine entries of the ledger."""

    entries: list[CeLedger]

    @classmethod
    def read(cls, **only: str) -> "Ledger":
        """The genuine entries, without what roots list; with `only`, those that have these values in these columns."""
        entries = CeLedger.objects.filter(**only).defer("ends", "rows").order_by("pk")
        return cls([entry for entry in read_rows(entries) if entry.is_genuine()])

    @property
    def roots(self) -> list[CeLedger]:
        """The roots, oldest first."""
        return [entry for entry in self.entries if entry.kind == CeLedger.Kind.ROOT]

    def list_ends(self, chain: str) -> dict[int, bytes]:
        """The ends of a chain that roots list: the last entry then, and the hash of its seal."""
        listed = (end for root in self.roots for end in root.details.get("tables", ()))
        return {last: bytes.fromhex(digest) for name, last, digest in listed if name == chain}

    def list_removed(self, chain: str) -> list[tuple[int, bytes, bytes]]:
        """The entries of a chain that were removed lawfully: number, and the two hashes of the seal."""
        removed = (gap for entry in self.entries for gap in entry.details.get("removed", ()))
        return sorted(
            (pk, bytes.fromhex(previous), bytes.fromhex(digest))
            for name, pk, previous, digest in removed
            if name == chain
        )

    def list_emptied(self, table: str) -> set[int]:
        """The entries of a table whose words an erasure removed."""
        entries = (entry for entry in self.entries if entry.table_name == table)
        return {pk for entry in entries for pk in entry.details.get("emptied", ())}

    def list_erased(self, table: str) -> set[int]:
        return {pk for entry in self.entries if entry.table_name == table for pk in entry.details.get("erased", ())}

    def count_removed_conversations(self) -> int:
        """How many conversations were removed, other than by an erasure."""
        table, kind = CeConversation._meta.db_table, CeLedger.Kind.RETENTION
        return sum(entry.count for entry in self.entries if entry.kind == kind and entry.table_name == table)
