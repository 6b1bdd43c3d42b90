"""Tables of the chain besides the seals of turn records."""

from datetime import UTC

from django.db import models
from django.utils import timezone

from audit.models.sealed import AppendOnly
from convengine.server.database.signed_rows import SignedModel


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
