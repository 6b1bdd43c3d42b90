"""`ce_health_acknowledgement`: accepted findings of the health check, with the reason. No turn reads it."""

from django.db import models
from django.utils import timezone


class CeHealthAcknowledgement(models.Model):
    """An accepted finding, named by its rows' content: it is reported again when one of them changes."""

    fingerprint = models.CharField(
        primary_key=True, max_length=32, help_text="Identifies the finding and the content of its rows."
    )
    code = models.TextField(help_text="The type of the finding.")
    reason = models.TextField(help_text="Why the finding is accepted.")
    made_by = models.TextField(help_text="Who accepted it.")
    made_at = models.DateTimeField(default=timezone.now, help_text="When it was accepted.")

    class Meta:
        db_table = "ce_health_acknowledgement"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.code} {self.fingerprint[:8]}"
