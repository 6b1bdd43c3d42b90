"""`ce_health_acknowledgement`: findings of the health check that somebody has accepted, and why. No turn reads it."""

from django.db import models
from django.utils import timezone


class CeHealthAcknowledgement(models.Model):
    """A finding that is meant to be so, named as its rows stand: once one of them changes, it is told again."""

    fingerprint = models.CharField(
        primary_key=True, max_length=32, help_text="Names the finding and its rows as they stood."
    )
    code = models.TextField(help_text="What kind of finding it is.")
    reason = models.TextField(help_text="Why it is meant to be so.")
    made_by = models.TextField(help_text="Who accepted it.")
    made_at = models.DateTimeField(default=timezone.now, help_text="When it was accepted.")

    class Meta:
        db_table = "ce_health_acknowledgement"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.code} {self.fingerprint[:8]}"
