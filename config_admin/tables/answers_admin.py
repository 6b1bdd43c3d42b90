"""Admin of `ce_response`, `ce_prompt_template`, `ce_output_schema`, `ce_verbose` and `ce_answer_document`."""

from collections.abc import Collection, Sequence
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest
from django.template.defaultfilters import pluralize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from config_admin.tables.answer_document import CeAnswerDocument
from config_admin.tables.base_admin import IntentFilter, InUseFilter, RowAdmin, ScopedAdmin, StateFilter, any_last
from config_admin.tables.output_schema import CeOutputSchema
from config_admin.tables.prepared_word import prepare_word
from config_admin.tables.prompt_template import CePromptTemplate
from config_admin.tables.response import CeResponse
from config_admin.tables.verbose import CeVerbose
from config_admin.validation.common import list_fallbacks, report_last_fallback
from config_admin.validation.draft import Draft, Finding
from config_admin.validation.relations import sort_properties
from config_admin.validation.world import World
from convengine.engine.documents.sections import split_document
from convengine.engine.text.compare import shorten_line
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.admin_site.record_columns import excerpt_column
from convengine.server.interfaces.turn_reports import turn_reports


@admin.register(CeResponse)
class ResponseAdmin(ScopedAdmin):
    """The texts for users, by state. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Answer", ("response_type", "output_format", "exact_text", "derivation_hint", "json_schema")),
        ("Availability", ("priority", "enabled", "description")),
    )
    list_display = ("answer", "in_use", "intent_code", "state_code", "response_type", "output_format", "priority")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("output_format", ChoicesDropdownFilter)),
    )
    search_fields = ("exact_text", "derivation_hint", "description")
    ordering = (*any_last("state_code"), *any_last("intent_code"), "priority", "response_id")

    @admin.display(description="answer")
    def answer(self, row: CeResponse) -> str:
        """The number, and the description or the beginning of the text."""
        return str(row)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        """The page of a stored row links to the feedback on its answers."""
        page = super().render_change_form(request, context, *args, **options)
        stored = context.get("original")
        if stored is not None and request.user.has_perm("audit.view_cemcpuserfeedback"):
            page.context_data["rated"] = turn_reports().rate_row("ce_response", stored.pk)
        return page

    def check_together(self, snapshot: Snapshot, leaving: Collection[Any]) -> Sequence[Finding]:
        """The last answers for UNKNOWN / UNKNOWN may not be removed together either."""
        fallbacks = list_fallbacks(snapshot)
        if len(fallbacks) < 2 or not {row.pk for row in fallbacks} <= set(leaving):
            return ()
        return [report_last_fallback(Draft(fallbacks[0], snapshot, World()))]


@admin.register(CePromptTemplate)
class PromptTemplateAdmin(ScopedAdmin):
    """The prompt of a model, and what the user may do in a state. Of equal rows, the newest comes first."""

    sections = (
        ("Where", ("response_type", "intent_code", "state_code")),
        ("Prompts", ("system_prompt", "user_prompt", "temperature")),
        ("User options", ("interaction_mode", "interaction_contract")),
        ("Availability", ("enabled",)),
    )
    list_display = ("template", "in_use", "intent_code", "state_code", "response_type", "interaction_mode", "prompt")
    list_filter = (
        *(InUseFilter, IntentFilter, StateFilter),
        *(("response_type", ChoicesDropdownFilter), ("interaction_mode", ChoicesDropdownFilter)),
    )
    search_fields = ("system_prompt", "user_prompt")
    ordering = (*any_last("intent_code"), *any_last("state_code"), "-created_at", "-template_id")
    prompt = excerpt_column("user_prompt", "user prompt", 50)

    @admin.display(description="template", ordering="template_id")
    def template(self, row: CePromptTemplate) -> str:
        return str(row)


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


@admin.register(CeVerbose)
class VerboseAdmin(ScopedAdmin):
    """What users read while they wait. The list is in the order in which rows win over one another."""

    sections = (
        ("Where", ("intent_code", "state_code")),
        ("Event", ("determinant", "step_match", "step_value", "rule_id", "tool_code")),
        ("Texts", ("message", "error_message")),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("text", "in_use", "intent_code", "state_code", "determinant", "step_value", "priority")
    list_filter = (InUseFilter, IntentFilter, StateFilter, ("step_match", ChoicesDropdownFilter))
    search_fields = ("message", "error_message", "determinant", "step_value", "tool_code")
    ordering = (
        *(*any_last("intent_code"), *any_last("state_code"), *any_last("determinant")),
        *("priority", "verbose_id"),
    )

    @admin.display(description="text")
    def text(self, row: CeVerbose) -> str:
        return f"{row.pk} · {shorten_line(row.message or row.error_message, 60)}"


@admin.register(CeAnswerDocument)
class AnswerDocumentAdmin(RowAdmin):
    """Documents, with the number of their sections."""

    sections = (
        ("Document", ("title", "link", "user_group")),
        ("Text", ("content", "sections")),
        ("Availability", ("enabled",)),
    )
    list_display = ("title", "in_use", "section_link", "link", "user_group")
    search_fields = ("title", "content")
    ordering = ("title",)

    @admin.display(description="sections")
    def section_link(self, row: CeAnswerDocument) -> SafeString:
        """How many sections with text it has, with a link to them."""
        count = len(split_document(row.title, row.content))
        return format_html('<a class="ce-link" href="{}/sections/">{} section{}</a>', row.pk, count, pluralize(count))
