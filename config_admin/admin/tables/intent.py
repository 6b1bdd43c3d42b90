"""Admin of `ce_intent` (tables 2.1)."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path

from config_admin.admin.base import RowAdmin
from config_admin.admin.places.chart_page import chart
from config_admin.admin.places.marks import opened
from config_admin.admin.places.start_page import start
from config_admin.admin.places.workspace import workspace
from config_admin.admin.saving.returning import workspace_url
from config_admin.models import CeIntent
from convengine.record_columns import beginning


class IntentList(ChangeList):
    """The list of intents: each leads to its workspace."""

    def url_for_result(self, result: Model) -> str:
        """Where the code of an intent leads."""
        return workspace_url(result.pk)


@admin.register(CeIntent)
class IntentAdmin(RowAdmin):
    """What users may want."""

    sections = (
        ("Intent", ("intent_code", "display_name", "description", "llm_hint")),
        ("In force", ("priority", "enabled")),
    )
    list_display = ("intent_code", "in_use", "priority", "display_name", "about")
    search_fields = ("intent_code", "display_name", "description")
    ordering = ("priority", "intent_code")
    fixed_fields = ("intent_code",)
    code_fields = ("intent_code",)
    save_as = False
    about = beginning("description", "applies when", 90)

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ChangeList]:
        """The list whose links lead to workspaces."""
        return IntentList

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the workspace and the map."""
        view = self.admin_site.admin_view(self.workspace_view)
        name, drawn = "config_admin_ceintent_workspace", self.admin_site.admin_view(chart)
        return [
            path("start/", self.admin_site.admin_view(start), name="config_admin_ceintent_start"),
            path("map/", drawn, name="config_admin_ceintent_map"),
            path("<path:intent>/map/", drawn, name="config_admin_ceintent_map_of"),
            path("<path:intent>/workspace/", view, name=name),
            *super().get_urls(),
        ]

    def workspace_view(self, request: HttpRequest, intent: str) -> HttpResponse:
        """Everything that concerns an intent."""
        response = workspace(request, intent)
        opened(request.user, self.opts.db_table, intent)
        return response

    def response_post_save_add(self, request: HttpRequest, obj: CeIntent) -> HttpResponse:
        """A new intent is filled in next."""
        return HttpResponseRedirect(workspace_url(obj.pk))
