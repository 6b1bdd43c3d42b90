"""Erasures: the conversation, who erased it, and why."""

from django.db import models
from django.utils import timezone

from audit.models.sealed import AppendOnly
from convengine.server.database.signed_rows import SignedModel


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
