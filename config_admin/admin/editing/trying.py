"""Trying a tool from its page: the row as it is in force, with arguments that an editor gives (pipeline-2 16.4)."""

import json
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.admin.base import RowAdmin
from config_admin.admin.desk import desk_of
from convengine.domain import rows
from convengine.domain.enums import ToolGroup
from convengine.domain.ports import ToolAnswer
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.executors.http import request_of
from convengine.executors.http_client import circuits
from convengine.executors.http_connections import connection
from convengine.executors.port import BuiltInTools
from convengine.extensions.registry import registry
from convengine.tools.arguments import INVALID_ARGS, checked, schema_of
from convengine.tools.fault import ToolFault

Json = Any
#: Calls that change nothing at the other side, if it keeps to HTTP.
_HARMLESS = frozenset({"GET", "HEAD"})
_LIMIT = frozenset({"limit"})


class TryForm(forms.Form):
    """The arguments of one try."""

    args = forms.CharField(
        required=False, initial="{}", widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})
    )

    def clean_args(self) -> dict[str, Json]:
        """The arguments as a JSON object."""
        try:
            found = json.loads(self.cleaned_data["args"].strip() or "{}")
        except ValueError as error:
            raise forms.ValidationError(
                f'The arguments are no JSON: {error}. Write an object: {{"orderId": "7"}}.'
            ) from None
        if not isinstance(found, dict):
            raise forms.ValidationError('The arguments are an object: {"orderId": "7"}.')
        return found


@dataclass(frozen=True)
class Tried:
    """What came of a try: the tool's answer, or what would have been sent."""

    answer: ToolAnswer
    #: Set when nothing was sent, because the call may change something.
    only_shown: bool = False

    @property
    def shown(self) -> str:
        """The result as people read it."""
        return json.dumps(self.answer.result, indent=2, ensure_ascii=False, default=str)

    @property
    def sql(self) -> str:
        """The statement that was run; blank for other tools."""
        told = self.answer.told.get("MCP_DB_SQL_EXECUTION")
        return str(told["sql"]) if told else ""


def try_tool(snapshot: Snapshot, tool: rows.Tool, args: dict[str, Json]) -> Tried:
    """Run a tool as a turn would, outside of any conversation. Calls other than GET and HEAD are shown, not made."""
    fitted, problems = checked(schema_of(snapshot, tool), args, _LIMIT)
    if problems:
        return Tried(ToolAnswer(error_type=INVALID_ARGS, error_message=" ".join(problems)))
    call = snapshot.row(rows.HttpTool, tool.tool_id)
    if call is not None and call.method.upper() not in _HARMLESS:
        try:
            return Tried(ToolAnswer(_as_sent(call, fitted)), only_shown=True)
        except ToolFault as fault:
            return Tried(ToolAnswer(error_type=fault.code, error_message=fault.message))
    return Tried(BuiltInTools(snapshot, registry).run(tool.tool_code, tool.tool_group, fitted, Session("dry-run")))


def _as_sent(call: rows.HttpTool, args: dict[str, Json]) -> Json:
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


class TryingAdmin(RowAdmin):
    """Rows behind a tool, with a page to try it."""

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the one that tries the tool."""
        view = self.admin_site.admin_view(self.try_view)
        return [path("<int:pk>/try/", view, name=f"config_admin_{self.opts.model_name}_try"), *super().get_urls()]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link, for who may change the row."""
        found = super().get_fieldsets(request, obj)
        if obj is None or not self.has_change_permission(request, obj):
            return found
        return [*found, ("Dry run", {"fields": ["dry_run"]})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is no field to fill in."""
        return (*super().get_readonly_fields(request, obj), "dry_run")

    @admin.display(description="try it")
    def dry_run(self, row: Any) -> SafeString:
        """The way to the page."""
        url = reverse(f"admin:config_admin_{self.opts.model_name}_try", args=[row.pk])
        return format_html('<a class="ce-link" href="{}">Try this tool with arguments of your own</a>', url)

    def try_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The page: arguments, and what the stored row makes of them."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        snapshot = desk_of(request).snapshot
        tool = snapshot.row(rows.Tool, pk)
        if tool is None:
            raise Http404
        form = TryForm(request.POST if request.method == "POST" else None)
        tried = try_tool(snapshot, tool, form.cleaned_data["args"]) if form.is_bound and form.is_valid() else None
        context = {
            **self.admin_site.each_context(request),
            "title": f"Try {tool.tool_code}",
            "opts": self.opts,
            "tool": tool,
            "form": form,
            "tried": tried,
            "schema": json.dumps(schema_of(snapshot, tool), indent=2, ensure_ascii=False, default=dict),
            "circuit": circuits.of(tool.tool_code).state if tool.tool_group == ToolGroup.HTTP_API else "",
            "back_url": reverse(f"admin:config_admin_{self.opts.model_name}_change", args=[pk]),
        }
        return TemplateResponse(request, "config_admin/try_tool.html", context)
