"""Admin of `ce_output_schema` (tables 3.1)."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from config_admin.admin.base import SCOPE, ScopedAdmin, any_last
from config_admin.admin.editing.pickers import intents, words
from config_admin.models import CeOutputSchema
from convengine.domain.enums import SchemaType
from convengine.domain.scope import UNKNOWN


@admin.register(CeOutputSchema)
class OutputSchemaAdmin(ScopedAdmin):
    """The fields to collect for an intent and state."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Fields", ("schema_type", "json_schema")),
        ("In force", ("priority", "enabled", "description")),
    )
    pickers = {**SCOPE, "intent_code": intents(UNKNOWN), "schema_type": words(SchemaType)}
    code_fields = ("json_schema",)
    list_display = ("schema", "in_use", "intent_code", "state_code", "fields_to_collect", "priority")
    search_fields = ("intent_code", "state_code", "description")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "priority", "schema_id")

    class Media:
        """The schema as a table of fields."""

        js = ("convengine/schema.js",)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        """The fields can be edited as a table as well."""
        found = super().formfield_for_dbfield(db_field, request, **options)
        if db_field.name == "json_schema":
            found.widget.attrs["data-fields"] = ""
        return found

    @admin.display(description="schema", ordering="schema_id")
    def schema(self, row: CeOutputSchema) -> str:
        """Its number, and what it is for."""
        return f"{row.pk} · {row.description}" if row.description else str(row.pk)

    @admin.display(description="fields")
    def fields_to_collect(self, row: CeOutputSchema) -> str:
        """The properties, required ones with a star."""
        schema = row.json_schema if isinstance(row.json_schema, dict) else {}
        required = schema.get("required") or []
        return ", ".join(f"{name}*" if name in required else name for name in schema.get("properties") or {})
