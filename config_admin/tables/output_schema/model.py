"""`ce_output_schema`: the fields to collect for an intent and state."""

from django.db import models

from config_admin.tables.base_model import ScopedRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority, word
from config_admin.tables.output_schema.checks import SAVE_CHECKS
from config_admin.tables.output_schema.field_order import SchemaField
from config_admin.validation.columns import NaturalKey, Problem, Reference, declare_column
from convengine.engine.turn.enums import SchemaType
from convengine.engine.turn.scope import UNKNOWN


class CeOutputSchema(ScopedRow):
    """A form: what must be known before the flow can go on."""

    save_checks = SAVE_CHECKS
    natural_key = NaturalKey(("intent_code", "state_code", "schema_type"))

    schema_id = models.BigAutoField("id", primary_key=True)
    schema_type = word(SchemaType, default=SchemaType.SCHEMA_JSON.value, verbose_name="schema type")
    json_schema = SchemaField(
        verbose_name="JSON Schema", help_text='An object with "type": "object", "properties" and "required".'
    )
    description = note("Available to prompts as schema_description.")
    enabled = make_enabled_field()
    priority = priority()

    class Meta(ScopedRow.Meta):
        db_table = "ce_output_schema"
        verbose_name = "form"
        indexes = [index("ce_output_schema_lookup", "intent_code", "state_code", "schema_type", "enabled", "priority")]


# The scope of all tables, but for ANY: a form belongs to one intent.
declare_column(
    CeOutputSchema._meta.get_field("intent_code"),
    reference=Reference.INTENT,
    reserved=(UNKNOWN,),
    refused=Problem("SCHEMA_INTENT_ANY", "A form belongs to one intent. Choose the intent."),
)
