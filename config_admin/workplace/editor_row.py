"""`ce_desk_row`: rows that a user opened. Not configuration: no turn reads it."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class CeDeskRow(models.Model):
    """A row that a user opened."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    table_name = models.TextField()
    row_pk = models.TextField()
    opened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ce_desk_row"
        verbose_name = "opened row"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["user", "table_name", "row_pk"], name="ce_desk_row_once"),
        ]

    def __str__(self) -> str:
        return f"{self.table_name} {self.row_pk}"
