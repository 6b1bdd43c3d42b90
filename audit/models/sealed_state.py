"""What the product made of rows that may change: the hashes of their sealed columns before and after."""

from collections.abc import Sequence
from typing import ClassVar

from django.db import models
from django.utils import timezone

from audit.models.chained import ChainedRow
from audit.models.sealed import AppendOnly
from convengine.server.database.unreadable import format_minute


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
