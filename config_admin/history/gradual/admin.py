"""The page of a gradual release: both sides beside each other, stop, go on."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse

from config_admin.editing.links import release_url
from config_admin.history.gradual.form import AudienceForm
from config_admin.history.gradual.sides import count_sides, describe_sides
from config_admin.releases.audience import NotGradual, change_audience, give_to_all
from config_admin.releases.models import CeGradualRelease, GradualStatus
from config_admin.releases.restore_rows import RowsBelongTogether
from config_admin.releases.undo import stop_gradual_release
from convengine.engine.turn.labels import format_percent
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.record_columns import badge_column, effect_url
from convengine.server.admin_site.rights import PUBLISH_DRAFT

STATUS_LOOKS = {"RUNNING": "info", "COMPLETE": "success", "STOPPED": "warning"}


@admin.register(CeGradualRelease)
class GradualReleaseAdmin(PagesAdmin):
    """Gradual releases, newest first."""

    change_form_template = "config_admin/gradual_release.html"
    list_display = ("release_label", "status_label", "share_label", "started_at", "ended_at", "ended_by")
    list_filter = ("status",)
    ordering = ("-gradual_id",)
    actions = None
    show_full_result_count = False

    @admin.display(description="release", ordering="config_version")
    def release_label(self, row: CeGradualRelease) -> str:
        return f"Release {row.config_version}"

    @badge_column(STATUS_LOOKS, "status", "status")
    def status_label(self, row: CeGradualRelease) -> tuple[str, str]:
        """Whether a part of the conversations still tries it."""
        return row.status, str(row.get_status_display())

    @admin.display(description="share", ordering="share")
    def share_label(self, row: CeGradualRelease) -> str:
        return format_percent(row.share)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Drafts are published gradually."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The buttons of the page change it."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was tried stays readable."""
        return False

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        row = self.get_object(request, object_id)
        context = build_page(request, row) if row else {}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @page("<int:gradual_id>/stop/")
    def stop_view(self, request: HttpRequest, gradual_id: int) -> HttpResponse:
        """Everybody runs on the other release again."""
        if response := _refuse(request):
            return response
        try:
            reason = request.POST.get("reason", "").strip()[:2000]
            row = stop_gradual_release(request.user.get_username(), reason, gradual_id)
            messages.success(
                request,
                f"Release {row.config_version} is stopped. Everybody has the content of release {row.parent_version}.",
            )
        except (NotGradual, RowsBelongTogether) as refused:
            messages.error(request, str(refused))
        return _go_back(gradual_id)

    @page("<int:gradual_id>/all/")
    def all_view(self, request: HttpRequest, gradual_id: int) -> HttpResponse:
        if response := _refuse(request):
            return response
        try:
            row = give_to_all(request.user.get_username(), gradual_id)
            messages.success(request, f"Every conversation gets release {row.config_version} with its next message.")
        except NotGradual as refused:
            messages.error(request, str(refused))
        return _go_back(gradual_id)

    @page("<int:gradual_id>/audience/")
    def audience_view(self, request: HttpRequest, gradual_id: int) -> HttpResponse:
        """Give the release to more or fewer."""
        if response := _refuse(request):
            return response
        form = AudienceForm(request.POST)
        try:
            if form.is_valid():
                change_audience(form.audience, gradual_id)
                messages.success(request, "Stored: it counts from the next message of each conversation.")
                return _go_back(gradual_id)
        except NotGradual as refused:
            messages.error(request, str(refused))
            return _go_back(gradual_id)
        return self.change_view_with_errors(request, gradual_id, form)

    def change_view_with_errors(self, request: HttpRequest, gradual_id: int, form: AudienceForm) -> HttpResponse:
        """The page with what was sent, and what is wrong with it."""
        request.method = "GET"
        response: HttpResponse = self.change_view(request, str(gradual_id), extra_context={"form": form})
        return response


def build_page(request: HttpRequest, row: CeGradualRelease) -> dict[str, Any]:
    sides = count_sides(row)
    user: Any = request.user
    return {
        "row": row,
        "is_running": row.status == GradualStatus.RUNNING,
        "lines": list(describe_sides(sides)),
        "effect_url": effect_url(request.user, row.config_version),
        "release_url": release_url(row.config_version),
        "parent_url": release_url(row.parent_version) if row.parent_version else "",
        "may_publish": user.has_perm(PUBLISH_DRAFT),
        "form": AudienceForm.of(row),
    }


def _refuse(request: HttpRequest) -> HttpResponse | None:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    require_right(request, PUBLISH_DRAFT)
    return None


def _go_back(gradual_id: int) -> HttpResponse:
    return HttpResponseRedirect(reverse("admin:config_admin_cegradualrelease_change", args=[gradual_id]))
