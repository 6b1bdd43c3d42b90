"""Admin of `ce_intent`."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IS_POPUP_VAR
from django.contrib.admin.utils import unquote
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config_admin.editing.links import row_url, workspace_url
from config_admin.flows.page import find_editable_flow
from config_admin.tables.base_admin import RowAdmin
from config_admin.tables.intent.model import CeIntent
from config_admin.workplace.renamed import redirect_to_renamed
from config_admin.workplace.workspace import workspace
from convengine.engine.text.compare import code
from convengine.engine.turn.scope import UNKNOWN
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.record_columns import excerpt_column


class IntentList(ChangeList):
    """The list of intents; each links to its workspace."""

    def url_for_result(self, result: Model) -> str:
        """The link of an intent's name."""
        return workspace_url(result.pk)


@admin.register(CeIntent)
class IntentAdmin(RowAdmin):
    """The goals of users."""

    sections = (
        ("Intent", ("intent_code", "display_name", "description", "llm_hint")),
        ("Dialogue", ("returns",)),
        ("Availability", ("priority", "enabled")),
    )
    list_display = ("name", "in_use", "switch_button", "intent_code", "priority", "about")
    search_fields = ("intent_code", "display_name", "description")
    ordering = ("priority", "intent_code")
    fixed_fields = ("intent_code",)
    save_as = False
    about = excerpt_column("description", "applies when", 90)

    @admin.display(description="name", ordering="display_name")
    def name(self, row: CeIntent) -> str:
        """The display name, or the code."""
        return str(row)

    @admin.display(description="switch")
    def switch_button(self, row: CeIntent) -> SafeString | str:
        """The button that switches the intent with all that belongs to it, off or on."""
        if code(row.intent_code) == UNKNOWN:
            return ""
        word = "off" if row.enabled else "on"
        return format_html(
            '<button type="submit" class="ce-button" name="at_once" value="list" formaction="{}" '
            'aria-label="Switch {}: {}">Switch {}</button>',
            reverse("admin:config_admin_ceintent_switch", args=[row.pk]),
            word,
            row,
            word,
        )

    def get_list_display(self, request: HttpRequest) -> list[str]:
        """Without the buttons where nothing may be changed."""
        may_switch = self.has_change_permission(request) and IS_POPUP_VAR not in request.GET
        return [name for name in super().get_list_display(request) if may_switch or name != "switch_button"]

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ChangeList]:
        """The list with links to workspaces."""
        return IntentList

    @page("<path:intent>/workspace/")
    def workspace_view(self, request: HttpRequest, intent: str) -> HttpResponse:
        response = workspace(request, intent)
        if isinstance(response, TemplateResponse):
            response.context_data = {**(response.context_data or {}), "flow_url": find_editable_flow(request, intent)}
        return response

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        """The page of an intent that had this code, if there is one."""
        response: HttpResponse
        try:
            response = redirect_to_renamed(request, code(unquote(object_id)), partial(row_url, self.opts.db_table))
        except Http404:
            response = super()._get_obj_does_not_exist_redirect(request, opts, object_id)
        return response

    def response_post_save_add(self, request: HttpRequest, obj: CeIntent) -> HttpResponse:
        """Continue with the workspace of a new intent."""
        return HttpResponseRedirect(workspace_url(obj.pk))
