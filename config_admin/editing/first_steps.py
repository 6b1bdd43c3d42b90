"""`ce_first_step`: which first steps of Home a user has done. Not configuration: no turn reads it."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from config_admin.releases.working_copy import write_outside
from convengine.server.admin_site.first_steps import TRY, WHY


class FirstStep(models.TextChoices):
    """A first step of a new analyst that leaves no lasting trace elsewhere."""

    TRY = TRY, "Talk to the bot"
    WHY = WHY, "Ask why"
    #: The user does not want to see the list any longer.
    DISMISSED = "DISMISSED", "Dismiss the list"


class CeFirstStep(models.Model):
    """A first step that a user has done."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, db_index=False, related_name="+")
    step = models.CharField(max_length=16, choices=FirstStep.choices)
    done_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "ce_first_step"
        verbose_name = "first step of a user"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["user", "step"], name="ce_first_step_once")]

    def __str__(self) -> str:
        return self.step


def note_first_step(user: Any, step: FirstStep) -> None:
    row = CeFirstStep(user=user, step=step)
    write_outside(lambda: CeFirstStep.objects.bulk_create([row], ignore_conflicts=True))


def list_noted_steps(user: Any) -> set[str]:
    return set(CeFirstStep.objects.filter(user=user).values_list("step", flat=True))
