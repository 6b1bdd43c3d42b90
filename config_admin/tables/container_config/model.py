"""`ce_container_config`: data to fetch for an intent and state."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.container_config.checks import SAVE_CHECKS
from config_admin.tables.model_fields import NAME_FORMAT, make_enabled_field, priority
from config_admin.validation.columns import NaturalKey, declare_column


class CeContainerConfig(ScopedRow):
    """One piece of data that a registered provider puts into the context."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code", "page_id", "section_id", "container_id"))

    id = models.BigAutoField("id", primary_key=True)
    page_id = models.IntegerField("page", help_text="First part of the address of the data.")
    section_id = models.IntegerField("section", help_text="Second part of the address of the data.")
    container_id = models.IntegerField("container", help_text="Third part of the address of the data.")
    input_param_name = declare_column(
        models.CharField(
            "name",
            validators=[NAME_FORMAT],
            help_text="The parameter sent to the provider. Its result is stored under the same name.",
        ),
        is_code=True,
    )
    priority = priority(1)
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_container_config"
        verbose_name = "data source"
        indexes = [index("ce_container_lookup", "intent_code", "state_code", "enabled", "priority")]
