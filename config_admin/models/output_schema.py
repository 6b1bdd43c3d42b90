"""`ce_output_schema`: the fields to collect for an intent and state (tables 3.1)."""

from django.db import models

from config_admin.models.base import ScopedRow, index, shortened
from config_admin.models.fields import document, enabled, note, priority, word
from convengine.domain.enums import SchemaType


class CeOutputSchema(ScopedRow):
    """What must be known before the flow can go on."""

    schema_id = models.BigAutoField("id", primary_key=True)
    schema_type = word(SchemaType, default=SchemaType.SCHEMA_JSON.value, verbose_name="kind of schema")
    json_schema = document(
        verbose_name="JSON Schema", help_text='An object with "type": "object", "properties" and "required".'
    )
    description = note("Becomes the prompt variable schema_description.")
    enabled = enabled()
    priority = priority()

    class Meta(ScopedRow.Meta):
        db_table = "ce_output_schema"
        verbose_name = "output schema"
        indexes = [index("ce_output_schema_lookup", "intent_code", "state_code", "schema_type", "enabled", "priority")]

    def summary(self) -> str:
        return f"{self.scope} {shortened(self.description)}".rstrip()
