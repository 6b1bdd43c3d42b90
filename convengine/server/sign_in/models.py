"""The mapping of groups at the identity provider to groups here."""

from typing import Any, ClassVar

from django.contrib.auth.models import Group
from django.db import models


class CeGroupMapping(models.Model):
    """A group here that users get who are in a group at the provider."""

    # The app is installed only where it is configured: a type checker does not see the manager.
    objects: ClassVar[Any] = models.Manager()

    claim = models.CharField(
        "group at the provider", max_length=250, help_text="As the provider's claim has it: a name or an ID."
    )
    group = models.ForeignKey(Group, models.CASCADE, help_text="Users get its permissions at their next check.")

    class Meta:
        db_table = "ce_group_mapping"
        verbose_name = "group of the provider"
        verbose_name_plural = "groups of the provider"
        ordering = ["claim", "pk"]
        # Only administrators decide who may do what.
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["claim", "group"], name="ce_group_mapping_once")]

    def __str__(self) -> str:
        return f"{self.claim} → {self.group}"
