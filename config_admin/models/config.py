"""`ce_config`: live settings (tables 5.1)."""

from django.db import models
from django.db.models.functions import Lower

from config_admin.models.base import ControlPlaneRow, shortened
from config_admin.models.fields import enabled


class CeConfig(ControlPlaneRow):
    """One setting. Look-ups ignore case; the value's type is that of the settings catalogue."""

    config_id = models.BigAutoField("id", primary_key=True)
    config_type = models.CharField("type", help_text="The reader's name, for example DialogueActStep or Session.")
    config_key = models.CharField("key", help_text="For example SYSTEM_PROMPT; a qualifier may follow after a dot.")
    config_value = models.TextField("value")
    enabled = enabled()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_config"
        verbose_name = "setting"
        constraints = [
            models.UniqueConstraint(
                Lower("config_type"),
                Lower("config_key"),
                name="ce_config_name_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="There is already a row for this type and key.",
            )
        ]

    def summary(self) -> str:
        return f"{self.config_type}/{self.config_key} = {shortened(self.config_value)}"
