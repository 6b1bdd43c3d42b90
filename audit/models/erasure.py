"""That a person's data was erased: of which conversation, by whom, why."""

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from audit.models.sealed import AppendOnly

_PURPOSE = "convengine erasure"


class CeErasure(AppendOnly):
    """One conversation whose contents were erased.

    Each carries a proof that the product wrote it: a keyed hash with the deployment's secret, which the database does
    not know.
    """

    erasure_id = models.BigAutoField(primary_key=True)
    conversation_id = models.UUIDField()
    created_at = models.DateTimeField(default=timezone.now)
    by = models.TextField(help_text="Who had it erased.")
    reason = models.TextField(help_text="Why.")
    last_turn_no = models.IntegerField(help_text="Turns up to this were erased.")
    last_link = models.IntegerField(help_text="Additions up to this were erased.")
    counts = models.JSONField(default=dict, help_text="How much was taken out, by table.")
    proof = models.TextField(help_text="That this was written by the product.")

    class Meta:
        db_table = "ce_erasure"
        verbose_name = "erasure"
        indexes = [models.Index(fields=["conversation_id"], name="ce_erasure_conversation")]

    def __str__(self) -> str:
        return f"erasure of {self.conversation_id}"

    def proven(self) -> "CeErasure":
        """The same with its proof."""
        self.proof = self._proof(settings.SECRET_KEY)
        return self

    def is_genuine(self) -> bool:
        """True when the product wrote it, with the secret of today or an earlier one that is still named."""
        keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
        return any(constant_time_compare(self.proof, self._proof(key)) for key in keys)

    def _proof(self, secret: str | bytes) -> str:
        told = f"{self.conversation_id} {self.last_turn_no} {self.last_link} {self.by}\n{self.reason}"
        return salted_hmac(_PURPOSE, told, secret=secret, algorithm="sha256").hexdigest()
