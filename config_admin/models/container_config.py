"""`ce_container_config`: data to fetch for an intent and state (tables 3.4)."""

from django.db import models

from config_admin.models.base import ScopedRow, index
from config_admin.models.fields import NAME_FORMAT, enabled, priority


class CeContainerConfig(ScopedRow):
    """One piece of data that a registered provider puts into the context."""

    id = models.BigAutoField("id", primary_key=True)
    page_id = models.IntegerField("page", help_text="Address of the data, part 1.")
    section_id = models.IntegerField("section", help_text="Address of the data, part 2.")
    container_id = models.IntegerField("container", help_text="Address of the data, part 3.")
    input_param_name = models.CharField(
        "name",
        validators=[NAME_FORMAT],
        help_text="Sent to the provider as a parameter, and the key under which its result is stored.",
    )
    priority = priority(1)
    enabled = enabled()

    class Meta(ScopedRow.Meta):
        db_table = "ce_container_config"
        verbose_name = "container data"
        verbose_name_plural = "container data"
        indexes = [index("ce_container_lookup", "intent_code", "state_code", "enabled", "priority")]

    def summary(self) -> str:
        return f"{self.scope} {self.page_id}/{self.section_id}/{self.container_id} → {self.input_param_name}"
