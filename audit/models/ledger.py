"""The ledger with its daily roots; what was removed lawfully; states of rows that may change."""

import hashlib
import json
import zlib
from collections.abc import Sequence
from datetime import UTC
from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from audit.models.sealed import AppendOnly, ChainedRow
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


class CeChainCut(SignedModel, AppendOnly):
    """Data that was removed from the record by rule: by age, by kind, or by an erasure.

    Such missing data is no damage. Retention has one row per run that removed something.
    """

    class Kind(models.TextChoices):
        """What was removed."""

        TURNS = "TURNS", "Turn records and sessions"
        EVENTS = "EVENTS", "Events, deciding rows and recordings"
        STEPS = "STEPS", "Events of steps"
        PROMPTS = "PROMPTS", "Prompts and answers of models"
        CALLS = "CALLS", "Model calls"

    cut_id = models.BigAutoField(primary_key=True)
    kind = models.TextField(help_text="The kind of removed data.")
    before = models.DateTimeField(help_text="Older data was removed.")
    looked_to = models.BigIntegerField(
        "last checked turn", default=0, help_text="The last row that was checked, if that matters."
    )
    created_at = models.DateTimeField("created", default=timezone.now)

    class Meta:
        db_table = "ce_chain_cut"
        verbose_name = "cut of the record"
        verbose_name_plural = "cuts of the record"

    def __str__(self) -> str:
        return f"{self.kind} before {self.before:%Y-%m-%d %H:%M}"

    def claim(self) -> str:
        return f"{self.kind} {self.before.astimezone(UTC).isoformat()}"


class CeChainBase(SignedModel):
    """The beginning of a conversation's chain after its older turns were removed: the seal that the next one
    includes.
    """

    conversation_id = models.UUIDField("conversation", primary_key=True)
    turn_no = models.IntegerField("turn", help_text="The last removed turn.")
    hash = models.BinaryField(help_text="The hash of its seal.")
    created_at = models.DateTimeField("created", default=timezone.now)

    class Meta:
        db_table = "ce_chain_base"
        verbose_name = "beginning of a chain"
        verbose_name_plural = "beginnings of chains"

    def __str__(self) -> str:
        return f"{self.conversation_id} from turn {self.turn_no + 1}"

    def claim(self) -> str:
        return f"{self.conversation_id} {self.turn_no} {bytes(self.hash).hex()}"


class CeErasure(SignedModel, AppendOnly):
    """One conversation whose contents were erased."""

    erasure_id = models.BigAutoField("id", primary_key=True)
    conversation_id = models.UUIDField("conversation")
    created_at = models.DateTimeField("time", default=timezone.now)
    by = models.TextField(help_text="Who erased it.")
    reason = models.TextField(help_text="The reason for the erasure.")
    last_turn_no = models.IntegerField("last turn", help_text="Turns up to this one were erased.")
    last_addition = models.BigIntegerField(default=0, help_text="Additions up to this row were erased.")
    counts = models.JSONField("erased rows", default=dict, help_text="Number of erased rows by table.")

    class Meta:
        db_table = "ce_erasure"
        verbose_name = "erasure"
        permissions = [("erase_person", "Can erase a person's data")]
        indexes = [models.Index(fields=["conversation_id"], name="ce_erasure_conversation")]

    def __str__(self) -> str:
        return f"Erasure of conversation {self.conversation_id}"

    def claim(self) -> str:
        return f"{self.conversation_id} {self.last_turn_no} {self.last_addition} {self.by}\n{self.reason}"


class CeSealedState(ChainedRow, AppendOnly):
    """A change of some rows of a table. The changes of each table are a chain of their own."""

    SEALED: ClassVar[Sequence[str]] = ("created_at", "table_name", "hashes")

    state_id = models.BigAutoField("id", primary_key=True)
    created_at = models.DateTimeField("time", default=timezone.now)
    table_name = models.TextField("table", help_text="The table of the rows.")
    hashes = models.JSONField(help_text="By the key of each row its hashes before and after; null without a row.")

    class Meta:
        db_table = "ce_sealed_state"
        verbose_name = "sealed state"
        default_permissions = ()
        indexes = [models.Index(fields=["table_name", "state_id"], name="ce_sealed_state_table")]

    def __str__(self) -> str:
        return f"{self.table_name}, {format_minute(self.created_at)}"

    def get_chain_name(self) -> str:
        return str(self.table_name)
