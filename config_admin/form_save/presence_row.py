"""`ce_presence`: who has a row's page open. Not configuration: no turn reads it, and rows expire within minutes."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class Doing(models.TextChoices):
    """What a user does with an open page."""

    READING = "READING", "reads it"
    OPEN = "OPEN", "has it open"
    CHANGING = "CHANGING", "is changing it"


class CePresence(models.Model):
    """One page of one row, open in one window."""

    #: The window's own id.
    visit = models.CharField(max_length=36, primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    table_name = models.TextField()
    row_pk = models.TextField()
    since = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)
    doing = models.CharField(max_length=8, choices=Doing.choices)

    class Meta:
        db_table = "ce_presence"
        default_permissions = ()
        indexes = [models.Index(fields=["table_name", "row_pk"], name="ce_presence_row")]

    def __str__(self) -> str:
        return f"{self.table_name} {self.row_pk}"
