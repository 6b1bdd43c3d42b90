"""The ledger: daily roots over the ends of all chains, and what was removed lawfully."""

import hashlib
import json
import zlib
from collections.abc import Sequence
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from audit.models.chained import ChainedRow
from audit.models.sealed import AppendOnly
from convengine.server.database.signed_rows import SignedModel
from convengine.server.database.unreadable import format_minute


class CeLedger(ChainedRow, SignedModel, AppendOnly):
    """One entry of the ledger."""

    class Kind(models.TextChoices):
        """What is recorded."""

        ROOT = "ROOT", "Ends of all chains"
        # By the retention, or by somebody who removes the demonstration's sample week.
        RETENTION = "RETENTION", "Removed"
        ERASURE = "ERASURE", "Erased for a person"

    SEALED: ClassVar[Sequence[str]] = (
        *("created_at", "kind", "by", "reason", "table_name", "count", "ids_hash", "detail", "root"),
    )

    entry_id = models.BigAutoField("id", primary_key=True)
    created_at = models.DateTimeField("time", default=timezone.now)
    kind = models.TextField(choices=Kind.choices, help_text="What is recorded.")
    by = models.TextField(help_text="The person or the job.")
    reason = models.TextField(help_text="Why rows were removed.")
    table_name = models.TextField("table", default="", help_text="The table of removed rows.")
    count = models.IntegerField("rows", default=0, help_text="The number of removed rows, or of ends of chains.")
    ids_hash = models.TextField("hash of ids", default="", help_text="The hash over the ids of removed rows.")
    detail = models.TextField(default="{}", help_text="As JSON: removed entries of logs, or the ends of other chains.")
    ends = models.BinaryField(null=True, help_text="The ends of conversations that grew, compressed.")
    rows = models.BinaryField(null=True, help_text="The rows with proofs that were added, compressed.")
    root = models.TextField(default="", help_text="The hash over the root before it and all ends.")

    class Meta:
        db_table = "ce_ledger"
        verbose_name = "ledger entry"
        verbose_name_plural = "ledger entries"
        default_permissions = ("view",)
        indexes = [models.Index(fields=["kind", "entry_id"], name="ce_ledger_kind")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}, {format_minute(self.created_at)}"

    def save(self, *args: Any, **options: Any) -> None:
        """Insert, with its proof."""
        self.sign()
        super().save(*args, **options)

    def claim(self) -> str:
        return self.encode().header.hex()

    @staticmethod
    def find_newest_root() -> "CeLedger | None":
        """The last daily root, without the ends of conversations."""
        roots = CeLedger.objects.filter(kind=CeLedger.Kind.ROOT).defer("ends", "rows")
        newest: CeLedger | None = roots.order_by("-pk").first()
        return newest

    def list_ends(self) -> list[str]:
        """The ends of conversations, one JSON text each; none if they cannot be read."""
        return _read_lines(self.ends)

    def list_rows(self) -> list[str]:
        """The rows with proofs, some hundred in each JSON text; none if they cannot be read."""
        return _read_lines(self.rows)

    @property
    def details(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.detail)
        return parsed


def _read_lines(compressed: Any) -> list[str]:
    try:
        return zlib.decompress(bytes(compressed)).decode().splitlines() if compressed else []
    except (TypeError, ValueError, zlib.error):
        return []


def hash_ids(ids: Sequence[object]) -> str:
    return hashlib.sha256("\n".join(sorted(map(str, ids))).encode()).hexdigest()
