"""`ce_config`: live settings."""

from django.db import models
from django.db.models.functions import Lower

from config_admin.tables.base_model import ControlPlaneRow
from config_admin.tables.config.checks import SAVE_CHECKS
from config_admin.tables.model_fields import make_enabled_field
from config_admin.validation.columns import NaturalKey, Problem, Reference, declare_column


class CeConfig(ControlPlaneRow):
    """One setting. Look-ups ignore case; the value's type is that of the settings catalogue."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("config_type", "config_key"), is_unique=True, ignores_case=True)

    config_id = models.BigAutoField("id", primary_key=True)
    config_type = declare_column(
        models.CharField(
            "type", help_text="The part of the engine that reads the setting, for example DialogueActStep or Session."
        ),
        required=Problem("FIELD_REQUIRED", "Choose the part of the engine that reads the setting."),
        reference=Reference.SETTING_TYPE,
    )
    config_key = declare_column(
        models.CharField(
            "key", help_text="The name of the setting, for example SYSTEM_PROMPT. A qualifier may follow after a dot."
        ),
        required=Problem("FIELD_REQUIRED", "Choose the setting."),
        reference=Reference.SETTING_KEY,
        depends_on="config_type",
    )
    config_value = declare_column(
        models.TextField("value"),
        is_code=True,
        help="The value of the setting. An empty value counts as not set.",
    )
    enabled = make_enabled_field()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_config"
        verbose_name = "setting"
        constraints = [
            models.UniqueConstraint(
                Lower("config_type"),
                Lower("config_key"),
                name="ce_config_name_unique",
                violation_error_code="DUPLICATE",
                violation_error_message="A value for this type and key already exists.",
            )
        ]
