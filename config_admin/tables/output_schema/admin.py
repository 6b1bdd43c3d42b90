"""Admin of `ce_output_schema`."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest

from config_admin.tables.base_admin import ScopedAdmin, any_last
from config_admin.tables.output_schema.model import CeOutputSchema
from config_admin.tables.output_schema.prepared_word import prepare_word
from config_admin.validation.relations import sort_properties


@admin.register(CeOutputSchema)
class OutputSchemaAdmin(ScopedAdmin):
    """The fields to collect for an intent and state."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Fields", ("schema_type", "json_schema")),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("schema", "in_use", "intent_code", "state_code", "fields_to_collect", "priority")
    search_fields = ("intent_code", "state_code", "description")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "priority", "schema_id")

    class Media:
        """The editor of the schema as a table of fields."""

        js = ("convengine/schema.js",)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """The schema has a table editor."""
        formfield = super().formfield_for_dbfield(db_field, request, **options)
        if db_field.name == "json_schema":
            formfield.widget.attrs["data-fields"] = ""
        return formfield

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """With a word of a message in the address, the form has it filled in."""
        stored, fields = context.get("original"), context["adminform"].form
        if request.method == "GET" and stored is not None and "json_schema" in fields.fields:
            prepared = prepare_word(request, stored.json_schema)
            if prepared is not None and prepared.schema is not None:
                fields.initial["json_schema"] = prepared.schema
            if prepared is not None:
                level = messages.INFO if prepared.schema is not None else messages.WARNING
                self.message_user(request, prepared.message, level)
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description="form", ordering="schema_id")
    def schema(self, row: CeOutputSchema) -> str:
        """The number and description of the row."""
        return str(row)

    @admin.display(description="fields (* = required)")
    def fields_to_collect(self, row: CeOutputSchema) -> str:
        """The properties, required ones with a star."""
        schema = row.json_schema if isinstance(row.json_schema, dict) else {}
        required = schema.get("required") or []
        return ", ".join(f"{name}*" if name in required else name for name in sort_properties(schema))
