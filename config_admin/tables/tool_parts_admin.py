"""Admin of the parts of tools, `ce_mcp_db_tool` and `ce_mcp_http_tool`, with a page that tries the tool.

It runs the row in force, with arguments of the editor.
"""

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.editing.context import get_editor_context
from config_admin.editing.links import row_url
from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.mcp_db_tool import CeMcpDbTool
from config_admin.tables.mcp_http_tool.model import CeMcpHttpTool
from config_admin.tables.mcp_tool import CeMcpTool
from config_admin.validation.secret_columns import mask_value
from convengine.engine.tools.arguments import INVALID_ARGS, check_arguments, find_argument_schema
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import rows
from convengine.engine.turn.enums import ToolGroup
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.json_value import Json
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import excerpt_column
from convengine.server.executors.http import request_of
from convengine.server.executors.http_client import circuits
from convengine.server.executors.http_connections import connection
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import registry

#: Calls that change nothing on the other side.
_HARMLESS = frozenset({"GET", "HEAD"})
_LIMIT = frozenset({"limit"})


class TryForm(forms.Form):
    args = forms.CharField(
        required=False, initial="{}", widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})
    )

    def clean_args(self) -> dict[str, Json]:
        """The arguments as a JSON object."""
        try:
            args = read_json(self.cleaned_data["args"].strip() or "{}")
        except Unreadable as error:
            raise forms.ValidationError(
                f'The arguments are not valid JSON: {error.describe()}. Write an object: {{"orderId": "7"}}.'
            ) from None
        if not isinstance(args, dict):
            raise forms.ValidationError('The arguments must be an object: {"orderId": "7"}.')
        return args


@dataclass(frozen=True)
class Tried:
    """The result of a try: the tool's answer, or the call that would have been made."""

    answer: ToolAnswer
    #: Set when nothing was sent, because the call may change something.
    only_shown: bool = False

    @property
    def shown(self) -> str:
        """The result for people."""
        return json.dumps(self.answer.result, indent=2, ensure_ascii=False, default=str)

    @property
    def sql(self) -> str:
        """The executed statement; blank for other tools."""
        executed = self.answer.stage_payloads.get("MCP_DB_SQL_EXECUTION")
        return str(executed["sql"]) if executed else ""


def try_tool(snapshot: Snapshot, tool: rows.Tool, args: dict[str, Json]) -> Tried:
    """Run a tool as a turn would, outside of any conversation. Calls other than GET and HEAD are shown, not made."""
    fitted, problems = check_arguments(find_argument_schema(snapshot, tool), args, _LIMIT)
    if problems:
        return Tried(ToolAnswer(error_type=INVALID_ARGS, error_message=" ".join(problems)))
    call = snapshot.row(rows.HttpTool, tool.tool_id)
    if call is not None and call.method.upper() not in _HARMLESS:
        try:
            return Tried(ToolAnswer(_build_request_document(call, fitted)), only_shown=True)
        except ToolFault as fault:
            return Tried(ToolAnswer(error_type=fault.code, error_message=fault.message))
    return Tried(BuiltInTools(snapshot, registry).run(tool.tool_code, tool.tool_group, fitted, Session("dry-run")))


def _build_request_document(call: rows.HttpTool, args: dict[str, Json]) -> Json:
    request = request_of(call, args)
    target = connection(request.connection).target(request.path)
    address = f"{target.scheme}://{target.authority}{target.path}"
    return {
        "method": request.method,
        "address": address,
        "query": request.query,
        "headers": request.headers,
        "body": request.body,
    }


class _ToolPartAdmin(RowAdmin):
    """Rows of tools of one group, with a page to try the tool."""

    group: ClassVar[ToolGroup]
    fixed_fields = ("tool",)
    save_as = False
    actions = ("export_selected",)
    list_filter = ()
    list_select_related = ("tool",)
    ordering = ("tool__tool_code",)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        options["queryset"] = CeMcpTool.objects.filter(tool_group=self.group.value).order_by("tool_code")
        return super().formfield_for_foreignkey(db_field, request, **options)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link, for users who may change the row."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [*fieldsets, ("Dry run", {"fields": ["dry_run"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is read-only."""
        return (*super().get_readonly_fields(request, obj), "dry_run")

    @admin.display(description="test")
    def dry_run(self, row: Any) -> SafeString:
        """The link to the page."""
        url = row_url(self.opts.db_table, row.pk, "try")
        return format_html('<a class="ce-link" href="{}">Test this tool with your own arguments</a>', url)

    @page("<int:pk>/try/")
    def try_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page: the arguments, and the result with the stored row."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        snapshot = get_editor_context(request).snapshot
        tool = snapshot.row(rows.Tool, pk)
        if tool is None:
            raise Http404("This row does not exist.")
        form = TryForm(request.POST if request.method == "POST" else None)
        tried = try_tool(snapshot, tool, form.cleaned_data["args"]) if form.is_bound and form.is_valid() else None
        context = {
            "title": f"Test {tool.tool_code}",
            "tool": tool,
            "form": form,
            "tried": tried,
            "schema": json.dumps(find_argument_schema(snapshot, tool), indent=2, ensure_ascii=False, default=dict),
            "circuit": circuits.of(tool.tool_code).state if tool.tool_group == ToolGroup.HTTP_API else "",
            "back_url": row_url(self.opts.db_table, pk),
        }
        return TemplateResponse(request, "config_admin/try_tool.html", context)


@admin.register(CeMcpDbTool)
class DbToolAdmin(_ToolPartAdmin):
    """The SQL behind a tool of group DB."""

    group = ToolGroup.DB
    sections = (
        ("Tool", ("tool",)),
        ("Statement", ("dialect", "sql_template", "param_schema")),
        ("Limits", ("safe_mode", "max_rows", "allowed_identifiers", "allowed_tables")),
    )
    list_display = ("tool", "dialect", "statement", "safe_mode", "max_rows")
    search_fields = ("tool__tool_code", "sql_template")
    statement = excerpt_column("sql_template", "statement", 80)


@admin.register(CeMcpHttpTool)
class HttpToolAdmin(_ToolPartAdmin):
    """The call behind a tool of group HTTP_API."""

    group = ToolGroup.HTTP_API
    sections = (
        ("Tool", ("tool",)),
        ("Call", ("connection_name", "method", "url_template", "query_json", "headers_json", "body_template")),
        ("Arguments and result", ("param_schema", "mapping_mode", "mapping_json", "policy_json")),
    )
    list_display = ("tool", "method", "connection_name", "path", "mapping_mode")
    search_fields = ("tool__tool_code", "connection_name", "url_template")

    @admin.display(ordering="url_template")
    def path(self, row: Any) -> Any:
        """The address, without a secret that a script may have stored."""
        return mask_value(self.opts.db_table, "url_template", row.url_template)
